import java.math.BigInteger;
import java.sql.*;
import java.util.Properties;

public class Jdbc {
    interface Binding {
        void bind(PreparedStatement statement) throws SQLException;
    }

    static final long value = Long.parseLong(System.getenv("VALUE"));
    static final String NEAR = "SELECT id FROM page WHERE hamming(si, ?) <= 6";

    static void print(String name, ResultSet rows) throws SQLException {
        while (rows.next()) System.out.println(name + " " + rows.getLong("id"));
    }

    static Connection connect() throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", System.getenv("PGUSER"));
        properties.setProperty("socketFactory", "UnixSocket");
        properties.setProperty("socketFactoryArg", System.getenv("PGHOST") + "/.s.PGSQL.5432");
        return DriverManager.getConnection("jdbc:postgresql://localhost/" + System.getenv("PGDATABASE"), properties);
    }

    /** Whether the server refuses what is bound, instead of comparing with another number. */
    static void refuses(Connection connection, Binding binding) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(NEAR)) {
            binding.bind(statement);
            statement.executeQuery();
        } catch (SQLException error) {
            if (error.getSQLState().equals("42883")) return;
            throw error;
        }
        throw new AssertionError("it was bound");
    }

    static void traps(Connection connection) throws SQLException {
        refuses(connection, statement -> statement.setObject(1, BigInteger.valueOf(value)));
        refuses(connection, statement -> statement.setDouble(1, value));
        try (PreparedStatement statement = connection.prepareStatement("SELECT ?::bigint")) {
            statement.setDouble(1, value);
            ResultSet row = statement.executeQuery();
            row.next();
            if (row.getLong(1) == value) throw new AssertionError("no bits were lost");
            statement.setObject(1, BigInteger.valueOf(value));
            row = statement.executeQuery();
            row.next();
            if (row.getLong(1) != value) throw new AssertionError("bits were lost");
        }
    }

    public static void main(String[] arguments) throws SQLException {
        Connection connection = connect();
        Statement statement = connection.createStatement();
        System.out.println("version " + connection.getMetaData().getDriverVersion());

        // @block 1@

        print("near", near.executeQuery());
        print("nearest", nearest.executeQuery());
        System.out.println("si " + si);
        String number = @unsigned@;
        System.out.println("unsigned " + number);
        System.out.println("signed " + @signed@);

        PreparedStatement bits = connection.prepareStatement(System.getenv("BITS_QUERY").replaceAll("\\$.", "?"));
        bits.setString(1, System.getenv("BITS"));
        bits.setInt(2, 20);
        print("bits", bits.executeQuery());
        traps(connection);
    }
}
