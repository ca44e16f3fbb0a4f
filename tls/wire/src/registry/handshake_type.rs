use super::registry;

registry! {
    /// The type of a handshake message; the name is that of the structure in its RFC. Source: IANA, TLS HandshakeType.
    pub struct HandshakeType(pub u8) {
        HELLO_REQUEST = 0, "HelloRequest";
        CLIENT_HELLO = 1, "ClientHello";
        SERVER_HELLO = 2, "ServerHello";
        HELLO_VERIFY_REQUEST = 3, "HelloVerifyRequest";
        NEW_SESSION_TICKET = 4, "NewSessionTicket";
        END_OF_EARLY_DATA = 5, "EndOfEarlyData";
        HELLO_RETRY_REQUEST = 6, "HelloRetryRequest";
        ENCRYPTED_EXTENSIONS = 8, "EncryptedExtensions";
        REQUEST_CONNECTION_ID = 9, "RequestConnectionId";
        NEW_CONNECTION_ID = 10, "NewConnectionId";
        CERTIFICATE = 11, "Certificate";
        SERVER_KEY_EXCHANGE = 12, "ServerKeyExchange";
        CERTIFICATE_REQUEST = 13, "CertificateRequest";
        SERVER_HELLO_DONE = 14, "ServerHelloDone";
        CERTIFICATE_VERIFY = 15, "CertificateVerify";
        CLIENT_KEY_EXCHANGE = 16, "ClientKeyExchange";
        CLIENT_CERTIFICATE_REQUEST = 17, "ClientCertificateRequest";
        FINISHED = 20, "Finished";
        CERTIFICATE_URL = 21, "CertificateURL";
        CERTIFICATE_STATUS = 22, "CertificateStatus";
        SUPPLEMENTAL_DATA = 23, "SupplementalData";
        KEY_UPDATE = 24, "KeyUpdate";
        COMPRESSED_CERTIFICATE = 25, "CompressedCertificate";
        EKT_KEY = 26, "EKTKey";
        NEXT_PROTOCOL = 67, "NextProtocol";
        MESSAGE_HASH = 254, "MessageHash";
    }
}
