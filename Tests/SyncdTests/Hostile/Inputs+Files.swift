import Foundation
import GRDB
import TestSupport

/// Part H of the catalogue, and the secrets of part F: files, configuration, flags.
extension HostileInput {
    private static func command(
        _ entry: Int, _ name: String, _ sentence: String,
        _ make: @escaping @Sendable (Workspace) async throws -> [String]
    ) -> HostileInput {
        HostileInput(entry, name, .command(make), .explained(sentence))
    }

    private static func run(
        _ entry: Int, _ name: String, token: String, mode: Int = 0o600, _ sentence: String
    ) -> HostileInput {
        command(entry, name, sentence) { workspace in
            [
                "run", try await workspace.makeReplica(), "--token-file",
                try workspace.write(token, to: "token", mode: mode),
            ]
        }
    }

    private static func configured(_ name: String, _ json: String, _ sentence: String) -> HostileInput {
        command(81, name, sentence) { workspace in
            ["run", try await workspace.makeReplica(), "--config", try workspace.write(json, to: "config.json")]
        }
    }

    /// B63, B64, B77 to B82.
    @HostileInputs static var files: [HostileInput] {
        run(63, "an empty token", token: "", "is empty")
        run(63, "a token of blanks", token: " \n\t\n", "is empty")
        run(63, "a token that others can read", token: HostileScene.token, mode: 0o644, "other users")
        run(63, "a token that its group can write", token: HostileScene.token, mode: 0o620, "other users")
        run(63, "a token of two words", token: "two words", "characters")
        run(63, "a token with a line break in it", token: "two\nlines", "characters")
        run(63, "a token that is no ASCII", token: "t\u{E9}", "characters")
        run(63, "a token of 5 000 bytes", token: String(repeating: "a", count: 5_000), "longer than")
        command(63, "a token file that is not there", "token file") { workspace in
            ["run", try await workspace.makeReplica(), "--token-file", workspace.path("none")]
        }
        command(63, "a directory for a token file", "not a regular file") { workspace in
            ["run", try await workspace.makeReplica(), "--token-file", workspace.directory.path]
        }
        command(63, "a FIFO for a token file", "not a regular file") { workspace in
            mkfifo(workspace.path("fifo"), 0o600)
            return ["run", try await workspace.makeReplica(), "--token-file", workspace.path("fifo")]
        }
        command(63, "/dev/zero for a token file", "not a regular file") { workspace in
            ["run", try await workspace.makeReplica(), "--token-file", "/dev/zero"]
        }
        command(63, "no token on all addresses", "without a token") { workspace in
            ["run", try await workspace.makeReplica(), "--listen", "0.0.0.0:0"]
        }
        command(64, "a peer's address with a password", "user info") { workspace in
            ["run", try await workspace.makeReplica(), "--peer", "https://u:\(HostileScene.token)@host:1"]
        }
        command(64, "an address to sync with, with a password", "user info") { workspace in
            ["sync", try await workspace.makeReplica(), "https://\(HostileScene.token)@host:1"]
        }
        command(64, "an address to verify against, with a token as its query", "more than a host") { workspace in
            ["verify", try await workspace.makeReplica(), "https://host:1?token=\(HostileScene.token)"]
        }
        command(64, "a status of an address with a password", "") { workspace in
            ["status", "https://u:\(HostileScene.token)@host:1"]
        }
        command(68, "a peer of another scheme", "scheme") { workspace in
            ["sync", try await workspace.makeReplica(), "gopher://127.0.0.1:1"]
        }
        command(68, "a peer that is a URL of a file", "is not a directory") { workspace in
            ["sync", try await workspace.makeReplica(), "file:///etc/passwd"]
        }
        command(68, "a peer whose port is none", "") { workspace in
            ["sync", try await workspace.makeReplica(), "http://127.0.0.1:99999"]
        }
        command(77, "a directory", "is a directory") { ["status", $0.directory.path] }
        command(77, "a FIFO", "") { workspace in
            mkfifo(workspace.path("fifo"), 0o600)
            return ["status", workspace.path("fifo")]
        }
        command(77, "/dev/zero", "") { _ in ["status", "/dev/zero"] }
        command(77, "a file of no bytes", "no change journal") { ["status", try $0.write("", to: "empty")] }
        command(77, "a text", "") {
            ["status", try $0.write(String(repeating: "no database ", count: 500), to: "text")]
        }
        command(77, "a link to nothing", "") { workspace in
            try FileManager.default.createSymbolicLink(atPath: workspace.path("link"), withDestinationPath: "nowhere")
            return ["status", workspace.path("link")]
        }
        command(77, "a link in a circle", "") { workspace in
            try FileManager.default.createSymbolicLink(atPath: workspace.path("link"), withDestinationPath: "link")
            return ["status", workspace.path("link")]
        }
        command(77, "a name of 5 000 bytes", "") { ["status", $0.path(String(repeating: "n", count: 5_000))] }
        command(77, "a database of a later format", "") { workspace in
            let path = try await workspace.makeReplica()
            try workspace.execute(path, "UPDATE _journal_replica SET format = 99")
            return ["status", path]
        }
        command(78, "half a database", "") { workspace in
            let path = try await workspace.makeReplica(rows: 2_000)
            try workspace.execute(path, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
            let bytes = FileManager.default.contents(atPath: path) ?? Data()
            try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: path))
            return ["log", path]
        }
        command(78, "a database whose first page is garbage behind its header", "") { workspace in
            let path = try await workspace.makeReplica()
            try workspace.execute(path, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
            var bytes = FileManager.default.contents(atPath: path) ?? Data()
            for index in 100..<min(4_096, bytes.count) { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
            try bytes.write(to: URL(fileURLWithPath: path))
            return ["status", path]
        }
        command(82, "an identity that is no number of 16 bytes", "") { workspace in
            let path = try await workspace.makeReplica()
            try workspace.execute(
                path, "PRAGMA ignore_check_constraints = ON; UPDATE _journal_replica SET origin = x'00'")
            return ["status", path]
        }
        configured("a key that is misspelled", #"{"token_file": "t"}"#, "unknown key")
        configured("a list for a configuration", "[]", "not a list of keys")
        configured("an empty configuration", "", "not a list of keys")
        configured("a configuration that is cut off", #"{"listen": "127.0.0.1:0""#, "not YAML")
        configured("a configuration of 100 000 levels", String(repeating: "[", count: 100_000), "not YAML")
        configured(
            "a configuration of 2 MB", "{\"listen\": \"\(String(repeating: "1", count: 2 << 20))\"}", "larger than")
        configured("a number for an address", #"{"listen": 7}"#, "listen")
        configured("an address without a port", #"{"listen": "127.0.0.1"}"#, "listen")
        configured("a port of 70 000", #"{"listen": "127.0.0.1:70000"}"#, "listen")
        configured("a port that is negative", #"{"listen": "127.0.0.1:-1"}"#, "listen")
        configured("days below 1", #"{"conflict-days": -5}"#, "conflict-days")
        configured("days beyond 1 000 000", #"{"conflict-days": 99999999}"#, "conflict-days")
        configured("days of 1e400", #"{"conflict-days": 1e400}"#, "")
        configured("half a day", #"{"conflict-days": 0.5}"#, "")
        configured("a level that does not exist", #"{"log-level": "loud"}"#, "log level")
        configured("a peer that is no text", #"{"peer": [7]}"#, "peer")
        configured("a peer twice", #"{"peer": ["http://a:1", "http://a:1/"]}"#, "given twice")
        configured("a peer with a password", "{\"peer\": [\"http://u:\(HostileScene.token)@a:1\"]}", "user info")
        configured("a certificate without a key", #"{"tls-cert": "c.pem"}"#, "--tls-key")
        configured("a configuration of UTF-16", "\u{FEFF}\0{\0}", "not YAML")
        command(81, "a configuration file that is a FIFO", "") { workspace in
            // The writer closes the pipe at once, so the reader sees an empty file.
            mkfifo(workspace.path("fifo"), 0o600)
            let path = workspace.path("fifo")
            Thread.detachNewThread { close(open(path, O_WRONLY)) }
            return ["run", try await workspace.makeReplica(), "--config", path]
        }
        command(81, "itself for a peer", "identity") { workspace in
            let path = try await workspace.makeReplica()
            return ["sync", path, path]
        }
    }
}
