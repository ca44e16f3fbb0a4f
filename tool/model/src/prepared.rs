//! What of a full handshake can be there before it.

named! {
    /// Where the server's ephemeral key pair comes from.
    #[derive(Default)]
    pub enum KeyPairs {
        /// It is made in the handshake.
        #[default]
        Fresh = "fresh",
        /// It was made before the client's first byte came, and is used once.
        Ahead = "ahead",
        /// It is that of all connections. Whoever learns its private key reads all of them; RFC 9846 §4.3.8 forbids it.
        Reused = "reused",
    }
}

named! {
    /// The server's certificates, and what the client knows of them before.
    #[derive(Default)]
    pub enum ServerChain {
        /// The root signed the server's own certificate, which is all that is sent.
        #[default]
        One = "1",
        /// One intermediate authority is between them, and is sent too.
        Two = "2",
        /// Two intermediate authorities.
        Three = "3",
        /// As `2`, but the intermediate's certificate is not sent: the client trusts it as it trusts the root.
        Stored = "stored",
        /// As `2`, and the client has verified these certificates before: it only verifies the signature of the handshake.
        Cached = "cached",
    }
}
