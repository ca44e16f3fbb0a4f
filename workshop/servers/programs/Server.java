import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.X509ExtendedKeyManager;

/**
 * An HTTPS server on JSSE which says of each connection what JSSE knows of it.
 *
 * <pre>java Server.java PORT CERTIFICATE KEY LOWEST HIGHEST [forget-sessions] [delay]</pre>
 *
 * It prints "listening", and for each connection "account PORT RESUMED VERSION CIPHER GROUP" before it answers.
 */
public final class Server {
    private static final String RESPONSE =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";

    private final Witness witness;
    private final boolean forgetsSessions;
    private final boolean delays;

    private Server(Witness witness, List<String> options) {
        this.witness = witness;
        this.forgetsSessions = options.contains("forget-sessions");
        this.delays = options.contains("delay");
    }

    public static void main(String[] arguments) throws IOException, GeneralSecurityException {
        Witness witness = new Witness(keyManager(Path.of(arguments[1]), Path.of(arguments[2])));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {witness}, null, null);
        int port = Integer.parseInt(arguments[0]);
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        SSLServerSocket listener =
            (SSLServerSocket) context.getServerSocketFactory().createServerSocket(port, 128, loopback);
        listener.setEnabledProtocols(Set.copyOf(List.of(arguments[3], arguments[4])).toArray(new String[0]));
        Server server = new Server(witness, List.of(arguments));
        tell("listening");
        while (true) {
            SSLSocket socket = (SSLSocket) listener.accept();
            new Thread(() -> server.serve(socket)).start();
        }
    }

    private void serve(SSLSocket socket) {
        try (socket) {
            // JSSE writes a flight message by message: each would wait for the acknowledgement of the one before.
            socket.setTcpNoDelay(!delays);
            socket.startHandshake();
            SSLSession session = socket.getSession();
            boolean resumed = !witness.wasAskedBy(socket);
            tell("account " + socket.getPort() + " " + resumed + " " + session.getProtocol() + " "
                + session.getCipherSuite() + " -");
            if (forgetsSessions) {
                session.invalidate();
            }
            answer(socket);
        } catch (IOException broken) {
            // The client has its own account of it.
        } finally {
            witness.forget(socket);
        }
    }

    private static void answer(SSLSocket socket) throws IOException {
        BufferedReader request =
            new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
        for (String line = request.readLine(); !"".equals(line); line = request.readLine()) {
            if (line == null) {
                return;
            }
        }
        OutputStream response = socket.getOutputStream();
        response.write(RESPONSE.getBytes(StandardCharsets.ISO_8859_1));
        response.flush();
    }

    private static synchronized void tell(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static X509ExtendedKeyManager keyManager(Path certificate, Path key)
        throws IOException, GeneralSecurityException {
        Certificate[] chain;
        try (InputStream pem = Files.newInputStream(certificate)) {
            chain = CertificateFactory.getInstance("X.509").generateCertificates(pem).toArray(new Certificate[0]);
        }
        String base64 = Files.readString(key).replaceAll("-----[A-Z ]+-----|\\s", "");
        PKCS8EncodedKeySpec pkcs8 = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64));
        PrivateKey decoded = KeyFactory.getInstance(chain[0].getPublicKey().getAlgorithm()).generatePrivate(pkcs8);
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("server", decoded, new char[0], chain);
        KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(store, new char[0]);
        return (X509ExtendedKeyManager) factory.getKeyManagers()[0];
    }

    /**
     * JSSE has no word for a resumed session. But it asks for the server's key in every full handshake, and in no
     * resumed one: whoever keeps the key knows.
     */
    private static final class Witness extends X509ExtendedKeyManager {
        private final X509ExtendedKeyManager keys;
        private final Set<Socket> askers = ConcurrentHashMap.newKeySet();

        Witness(X509ExtendedKeyManager keys) {
            this.keys = keys;
        }

        boolean wasAskedBy(Socket socket) {
            return askers.contains(socket);
        }

        void forget(Socket socket) {
            askers.remove(socket);
        }

        @Override
        public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
            askers.add(socket);
            return keys.chooseServerAlias(keyType, issuers, socket);
        }

        @Override
        public String[] getServerAliases(String keyType, Principal[] issuers) {
            return keys.getServerAliases(keyType, issuers);
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return keys.getCertificateChain(alias);
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return keys.getPrivateKey(alias);
        }

        @Override
        public String[] getClientAliases(String keyType, Principal[] issuers) {
            return keys.getClientAliases(keyType, issuers);
        }

        @Override
        public String chooseClientAlias(String[] keyType, Principal[] issuers, Socket socket) {
            return keys.chooseClientAlias(keyType, issuers, socket);
        }
    }
}
