// Connections of Java's JSSE, right or wrong in the way that the first argument says.
//
//     java Client.java WAY CA HOST PORT NAME...

import java.io.FileInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

public class Client {
    static final int ROUNDS = 4;
    static String ca;
    static String host;
    static int port;

    public static void main(String[] arguments) throws Exception {
        ca = arguments[1];
        host = arguments[2];
        port = Integer.parseInt(arguments[3]);
        switch (arguments[0]) {
            case "right" -> {
                SSLContext context = newContext();
                for (int round = 0; round < ROUNDS; round++) get(context);
            }
            case "rebuild" -> {
                for (int round = 0; round < ROUNDS; round++) get(newContext());
            }
            case "cache-of-one" -> cacheOfOne(newContext(), List.of(arguments).subList(4, arguments.length));
            case "close-early" -> closeEarly(newContext());
            case "at-once" -> atOnce(newContext());
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    static SSLContext newContext() throws Exception {
        Certificate authority;
        try (InputStream pem = new FileInputStream(ca)) {
            authority = CertificateFactory.getInstance("X.509").generateCertificate(pem);
        }
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setCertificateEntry("ca", authority);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    static void get(SSLContext context) throws Exception {
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(host, port)) {
            request(socket);
        }
    }

    static void cacheOfOne(SSLContext context, List<String> names) throws Exception {
        context.getClientSessionContext().setSessionCacheSize(1);
        for (String name : names) {
            Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
            try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, name, port, true)) {
                request(socket);
            }
        }
    }

    static void closeEarly(SSLContext context) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(host, port)) {
                socket.startHandshake();
                byte[] request = request();
                // Asks and reads nothing.
            }
        }
    }

    static void request(SSLSocket socket) throws Exception {
        socket.getOutputStream().write(request());
        socket.getInputStream().readAllBytes();
    }

    static byte[] request() {
        String head = "GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
        return head.getBytes(StandardCharsets.US_ASCII);
    }

    // All handshakes before any request: none of them can use a session of another.
    static void atOnce(SSLContext context) throws Exception {
        get(context);
        CountDownLatch shaken = new CountDownLatch(ROUNDS);
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < ROUNDS; number++) {
            Thread thread = new Thread(() -> {
                try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(host, port)) {
                    socket.startHandshake();
                    shaken.countDown();
                    shaken.await();
                    request(socket);
                } catch (Exception error) {
                    error.printStackTrace();
                    System.exit(1);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) thread.join();
    }
}
