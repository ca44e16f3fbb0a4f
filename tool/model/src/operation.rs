//! The operations that handshakes and records are made of.

named! {
    /// An operation of a cryptographic library, as `tls/stacks/include/reprise_stack.h` numbers them: in this order, from 0.
    pub enum Operation {
        /// Signs a digest, or a message where the scheme hashes none ahead.
        Sign = "sign",
        /// Verifies such a signature.
        Verify = "verify",
        /// Makes a key pair of a group.
        KeyPair = "key-pair",
        /// Computes the shared secret of two key pairs.
        Agree = "agree",
        /// A KEM: makes a secret for a public key.
        Encapsulate = "encapsulate",
        /// A KEM: computes the secret of a ciphertext.
        Decapsulate = "decapsulate",
        /// Encrypts and authenticates data.
        Seal = "seal",
        /// Decrypts such data, and checks them.
        Open = "open",
        /// Hashes data.
        Hash = "hash",
        /// HKDF-Expand to the hash's length.
        Hkdf = "hkdf",
        /// TLS 1.2's PRF, to the 48 bytes of a master secret.
        Prf = "prf",
        /// Random bytes.
        Random = "random",
        /// A whole key exchange as TLS makes it: both key pairs, both shares encoded, read and checked, both secrets.
        Exchange = "exchange",
        /// Verifies a signature by a public key that is read first, as a certificate has it.
        VerifyNewKey = "verify-new-key",
        /// An exchange or a signature, and directly behind it HKDF-Expand as often as both sides of TLS 1.3 do.
        HkdfAfter = "hkdf-after",
    }
}
