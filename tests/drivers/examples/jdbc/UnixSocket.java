import java.io.*;
import java.net.*;
import java.nio.channels.*;
import javax.net.SocketFactory;

/** The driver's way to a socket in the file system, which it does not know by itself. */
public class UnixSocket extends SocketFactory {
    private final String path;

    public UnixSocket(String path) { this.path = path; }

    @Override public Socket createSocket() {
        return new Socket() {
            private SocketChannel channel;
            @Override public void connect(SocketAddress address, int timeout) throws IOException {
                channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
            }
            @Override public InputStream getInputStream() { return Channels.newInputStream(channel); }
            @Override public OutputStream getOutputStream() { return Channels.newOutputStream(channel); }
            @Override public void close() throws IOException { channel.close(); }
        };
    }
    @Override public Socket createSocket(String host, int port) { throw new UnsupportedOperationException(); }
    @Override public Socket createSocket(String h, int p, InetAddress a, int b) { throw new UnsupportedOperationException(); }
    @Override public Socket createSocket(InetAddress host, int port) { throw new UnsupportedOperationException(); }
    @Override public Socket createSocket(InetAddress h, int p, InetAddress a, int b) { throw new UnsupportedOperationException(); }
}
