//! The primitives of rustls's providers, as its handshakes call them; those of records by the libraries beneath.

use std::fmt::Display;

use reprise_model::Operation;
use rustls::crypto::tls13::OkmBlock;
use rustls::crypto::{ActiveKeyExchange, CryptoProvider, SupportedKxGroup};
use rustls::sign::Signer;
use rustls::{SignatureScheme, SupportedCipherSuite};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{PrivateKeyDer, SignatureVerificationAlgorithm};
use x509_cert::der::Decode;
use x509_cert::spki::SubjectPublicKeyInfoRef;

use crate::StackError;
use crate::primitive::{EXPANSIONS, PrimitiveOptions, ReadyPrimitive, data, is_kem};

/// A provider signs messages and no digests. Of so few bytes the hash costs little.
const MESSAGE: usize = 32;

/// TLS's number of the hash (RFC 5246 §7.4.1.4.1).
const SHA_256: u16 = 4;

/// The library beneath a provider.
#[derive(Clone, Copy)]
pub(super) enum Beneath {
    AwsLcRs,
    Ring,
}

/// Makes it ready.
pub(super) fn primitive(
    provider: &CryptoProvider,
    beneath: Beneath,
    options: &PrimitiveOptions<'_>,
) -> Result<Box<dyn ReadyPrimitive>, StackError> {
    Ok(match options.operation {
        Operation::Sign => {
            let (Signing { signer, .. }, message) = (signing(provider, options)?, data(MESSAGE));
            repeated(move |out| signer.sign(&message).map(|signature| *out = signature).map_err(refused("sign")))
        }
        // It is given the key as the certificate has it, each time.
        Operation::Verify | Operation::VerifyNewKey => verification(provider, options)?,
        Operation::KeyPair => {
            let group = group(provider, options.algorithm)?;
            repeated(move |_| group.start().map(drop).map_err(refused("key pair")))
        }
        Operation::Encapsulate => {
            let group = kem(provider, options.algorithm)?;
            let peer = group.start().map_err(refused("key pair"))?.pub_key().to_vec();
            repeated(move |_| group.start_and_complete(&peer).map(drop).map_err(refused("encapsulate")))
        }
        Operation::Agree if is_kem(options.algorithm) => return Err(unsupported("a KEM agrees on nothing")),
        Operation::Agree => Box::new(Exchange::new(group(provider, options.algorithm)?)),
        Operation::Decapsulate => Box::new(Exchange::new(kem(provider, options.algorithm)?)),
        Operation::Seal | Operation::Open => match beneath {
            Beneath::AwsLcRs => aws_lc_rs::aead(options)?,
            Beneath::Ring => ring::aead(options)?,
        },
        Operation::Hash => {
            let (hash, data) = (suite(provider, options.algorithm)?.common.hash_provider, data(options.length));
            repeated(move |out| {
                let hashed = hash.hash(&data);
                out.clear();
                out.extend_from_slice(hashed.as_ref());
                Ok(())
            })
        }
        Operation::Hkdf => expansion(provider, options.algorithm)?,
        Operation::Exchange => {
            let group = group(provider, options.algorithm)?;
            repeated(move |out| {
                let client = group.start().map_err(refused("key pair"))?;
                let server = group.start_and_complete(client.pub_key()).map_err(refused("answer"))?;
                let secret = client.complete(&server.pub_key).map_err(refused("shared secret"))?;
                out.clear();
                out.extend_from_slice(secret.secret_bytes());
                out.extend_from_slice(server.secret.secret_bytes());
                Ok(())
            })
        }
        Operation::HkdfAfter => {
            let operation = if options.key.is_some() { Operation::Sign } else { Operation::Exchange };
            let mut before = primitive(provider, beneath, &PrimitiveOptions { operation, ..*options })?;
            let mut hkdf = expansion(provider, SHA_256)?;
            repeated(move |_| before.run(1).and_then(|()| hkdf.run(EXPANSIONS as usize)))
        }
        Operation::Prf => {
            let length = hash_length(options.algorithm);
            let of_hash = provider.cipher_suites.iter().find_map(|suite| match suite {
                SupportedCipherSuite::Tls12(suite) if Some(suite.common.hash_provider.output_len()) == length => Some(suite),
                _ => None,
            });
            let prf = of_hash.ok_or_else(|| unsupported("it has no PRF of this hash"))?.prf_provider;
            let (secret, seed) = (data(48), data(64));
            repeated(move |out| {
                out.resize(48, 0);
                prf.for_secret(out, &secret, b"master secret", &seed);
                Ok(())
            })
        }
        Operation::Random => {
            let (random, length) = (provider.secure_random, options.length);
            repeated(move |out| {
                out.resize(length, 0);
                random.fill(out).map_err(|_| StackError::refused("random", "there are no random bytes"))
            })
        }
    })
}

/// HKDF-Expand of a hash.
fn expansion(provider: &CryptoProvider, hash: u16) -> Result<Box<dyn ReadyPrimitive>, StackError> {
    let suite = suite(provider, hash)?;
    let secret = OkmBlock::new(&data(suite.common.hash_provider.output_len()));
    let (hkdf, info) = (suite.hkdf_provider, data(20));
    let expander = hkdf.expander_for_okm(&secret);
    Ok(repeated(move |out| {
        let derived = expander.expand_block(&[&info]);
        out.clear();
        out.extend_from_slice(derived.as_ref());
        Ok(())
    }))
}

/// What needs nothing for each time, and writes what it has come to.
struct Repeated<F> {
    once: F,
    out: Vec<u8>,
}

fn repeated<F: FnMut(&mut Vec<u8>) -> Result<(), StackError> + 'static>(once: F) -> Box<dyn ReadyPrimitive> {
    Box::new(Repeated { once, out: Vec::new() })
}

impl<F: FnMut(&mut Vec<u8>) -> Result<(), StackError>> ReadyPrimitive for Repeated<F> {
    fn prepare(&mut self, _count: usize) -> Result<(), StackError> {
        Ok(())
    }

    fn run(&mut self, count: usize) -> Result<(), StackError> {
        (0..count).try_for_each(|_| (self.once)(&mut self.out))
    }

    fn output(&self) -> Result<Vec<u8>, StackError> {
        Ok(self.out.clone())
    }
}

/// A key exchange of which one side waits for the other: it is used up.
struct Exchange {
    group: &'static dyn SupportedKxGroup,
    begun: Vec<(Box<dyn ActiveKeyExchange>, Vec<u8>)>,
}

impl Exchange {
    fn new(group: &'static dyn SupportedKxGroup) -> Self {
        Self { group, begun: Vec::new() }
    }
}

impl ReadyPrimitive for Exchange {
    fn prepare(&mut self, count: usize) -> Result<(), StackError> {
        while self.begun.len() < count {
            let own = self.group.start().map_err(refused("key pair"))?;
            let answer = self.group.start_and_complete(own.pub_key()).map_err(refused("answer"))?;
            self.begun.push((own, answer.pub_key));
        }
        Ok(())
    }

    fn run(&mut self, count: usize) -> Result<(), StackError> {
        for (own, answer) in self.begun.drain(..count.min(self.begun.len())) {
            own.complete(&answer).map_err(refused("shared secret"))?;
        }
        Ok(())
    }

    fn output(&self) -> Result<Vec<u8>, StackError> {
        Ok(Vec::new())
    }
}

/// Who signs, and the scheme.
struct Signing {
    signer: Box<dyn Signer>,
    public: Vec<u8>,
    scheme: SignatureScheme,
}

fn signing(provider: &CryptoProvider, options: &PrimitiveOptions<'_>) -> Result<Signing, StackError> {
    let pem = options.key.ok_or_else(|| unsupported("there is no key"))?;
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(refused("private key"))?;
    let key = provider.key_provider.load_private_key(key).map_err(|error| unsupported(&error.to_string()))?;
    let scheme = SignatureScheme::from(options.algorithm);
    let signer = key.choose_scheme(&[scheme]).ok_or_else(|| unsupported("its keys do not sign by this scheme"))?;
    let spki = key.public_key().ok_or_else(|| unsupported("it does not show the public key"))?;
    let spki = SubjectPublicKeyInfoRef::from_der(spki.as_ref()).map_err(refused("public key"))?;
    Ok(Signing { signer, public: spki.subject_public_key.raw_bytes().to_vec(), scheme })
}

fn verification(provider: &CryptoProvider, options: &PrimitiveOptions<'_>) -> Result<Box<dyn ReadyPrimitive>, StackError> {
    let Signing { signer, public, scheme } = signing(provider, options)?;
    let message = data(MESSAGE);
    let signature = signer.sign(&message).map_err(refused("sign"))?;
    let mut of_scheme = provider.signature_verification_algorithms.mapping.iter().filter(|(known, _)| *known == scheme);
    let algorithms = of_scheme.next().map_or(&[][..], |(_, algorithms)| algorithms);
    let verifies = |it: &&&dyn SignatureVerificationAlgorithm| it.verify_signature(&public, &message, &signature).is_ok();
    let algorithm = *algorithms.iter().find(verifies).ok_or_else(|| unsupported("it verifies no such signature"))?;
    Ok(repeated(move |_| {
        let verified = algorithm.verify_signature(&public, &message, &signature);
        verified.map_err(|_| StackError::refused("verify", "the signature is not valid"))
    }))
}

fn group(provider: &CryptoProvider, number: u16) -> Result<&'static dyn SupportedKxGroup, StackError> {
    let known = provider.kx_groups.iter().find(|it| u16::from(it.name()) == number).copied();
    known.ok_or_else(|| unsupported("it has no such group"))
}

fn kem(provider: &CryptoProvider, number: u16) -> Result<&'static dyn SupportedKxGroup, StackError> {
    if is_kem(number) { group(provider, number) } else { Err(unsupported("this group is no KEM")) }
}

fn hash_length(hash: u16) -> Option<usize> {
    match hash {
        4 => Some(32),
        5 => Some(48),
        6 => Some(64),
        _ => None,
    }
}

/// A suite of this hash.
fn suite(provider: &CryptoProvider, hash: u16) -> Result<&'static rustls::Tls13CipherSuite, StackError> {
    let length = hash_length(hash);
    let mut suites = provider.cipher_suites.iter().filter_map(SupportedCipherSuite::tls13);
    let of_hash = suites.find(|suite| Some(suite.common.hash_provider.output_len()) == length);
    of_hash.ok_or_else(|| unsupported("it has no such hash"))
}

fn refused<E: Display>(call: &'static str) -> impl Fn(E) -> StackError {
    move |error| StackError::refused(call, error)
}

fn unsupported(why: &str) -> StackError {
    StackError::unsupported(why)
}

/// ring and aws-lc-rs have one interface under two names.
macro_rules! aead_of {
    ($library:ident) => {
        mod $library {
            use ::$library::aead::{AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
            use reprise_model::Operation;

            use super::{refused, unsupported};
            use crate::StackError;
            use crate::primitive::{ADDITIONAL, PrimitiveOptions, ReadyPrimitive, data};

            /// Both work in place: a buffer is sealed again and again, but what was opened is no ciphertext any more.
            struct Aead {
                key: LessSafeKey,
                plain: Vec<u8>,
                tag: Vec<u8>,
                opens: bool,
                buffers: Vec<Vec<u8>>,
            }

            pub(super) fn aead(options: &PrimitiveOptions<'_>) -> Result<Box<dyn ReadyPrimitive>, StackError> {
                let algorithm = match options.algorithm {
                    0x1301 => &AES_128_GCM,
                    0x1302 => &AES_256_GCM,
                    0x1303 => &CHACHA20_POLY1305,
                    _ => return Err(unsupported("it has no such cipher")),
                };
                let key = UnboundKey::new(algorithm, &data(algorithm.key_len())).map_err(refused("key"))?;
                let (key, plain) = (LessSafeKey::new(key), data(options.length));
                let opens = options.operation == Operation::Open;
                Ok(Box::new(Aead { key, plain, tag: Vec::new(), opens, buffers: Vec::new() }))
            }

            fn nonce() -> Nonce {
                Nonce::assume_unique_for_key([0; 12])
            }

            impl Aead {
                fn seal(&self, buffer: &mut [u8]) -> Result<impl AsRef<[u8]> + use<>, StackError> {
                    let sealing = self.key.seal_in_place_separate_tag(nonce(), Aad::from(ADDITIONAL), buffer);
                    sealing.map_err(refused("seal"))
                }
            }

            impl ReadyPrimitive for Aead {
                fn prepare(&mut self, count: usize) -> Result<(), StackError> {
                    let mut buffer = self.plain.clone();
                    if self.opens {
                        let tag = self.seal(&mut buffer)?;
                        buffer.extend_from_slice(tag.as_ref());
                    }
                    self.buffers = vec![buffer; if self.opens { count } else { 1 }];
                    Ok(())
                }

                fn run(&mut self, count: usize) -> Result<(), StackError> {
                    if self.opens {
                        for mut sealed in self.buffers.iter_mut().take(count) {
                            let opened = self.key.open_in_place(nonce(), Aad::from(ADDITIONAL), &mut sealed);
                            opened.map_err(refused("open"))?;
                        }
                        return Ok(());
                    }
                    let mut buffers = std::mem::take(&mut self.buffers);
                    let buffer = buffers.first_mut().ok_or_else(|| StackError::refused("seal", "nothing is prepared"))?;
                    for _ in 0..count {
                        let tag = self.seal(buffer)?;
                        self.tag.clear();
                        self.tag.extend_from_slice(tag.as_ref());
                    }
                    self.buffers = buffers;
                    Ok(())
                }

                /// Of the first time after [`ReadyPrimitive::prepare`].
                fn output(&self) -> Result<Vec<u8>, StackError> {
                    let sealed = self.buffers.first().filter(|_| !self.opens);
                    Ok(sealed.map(|sealed| [&sealed[..], &self.tag].concat()).unwrap_or_default())
                }
            }
        }
    };
}

aead_of!(aws_lc_rs);
aead_of!(ring);
