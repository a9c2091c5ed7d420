import Foundation
import Logging
import Sync
import TestSupport
import Testing

@testable import SyncdCore

@Suite("Configuration files")
struct ConfigurationTests {
    let workspace = Workspace()

    private func load(_ text: String) throws -> (configuration: Configuration?, mistakes: [ConfigurationMistake]) {
        try ConfigurationFile.load(try workspace.write(text, to: "shop.yaml"))
    }

    /// What the daemon would be told.
    private func check(_ text: String, flags: Configuration = Configuration(), environment: [String: String] = [:])
        throws -> ConfigurationCheck
    {
        let file = try workspace.write(text, to: "shop.yaml")
        return try ConfigurationCheck(
            ConfigurationSource(flags: flags, file: file), Credentials(environment: environment))
    }

    @Test("every key is read; paths begin at the directory of the file")
    func everyKey() throws {
        let text = """
            database: shop.sqlite
            listen: "[::1]:0"
            token-file: /etc/syncd/token
            tokens: tokens
            peer:
              - http://a:1
              - other.sqlite
              - {url: "https://b:2", token-file: b.token, tls-ca: b.pem, tls-cert: c.pem, tls-key: c.key, direction: push, bandwidth: 64k, tls-pin: "sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="}
            tls-cert: cert.pem
            tls-key: $CREDENTIALS_DIRECTORY/key
            tls-ca: ca.pem
            log-level: warning
            log-format: json
            conflict-days: 7
            conflicts-per-row: 3
            keep: 12h
            lease: 90d
            collect: 400d
            archive-flush: 5s
            recapture: manual
            on-conflict: cat > /dev/null; echo 1
            on-held: /bin/held --now
            on-mismatch: 'exit 1'
            extension: [./program.so, /usr/lib/spatial.so, mod_spatialite]
            secret:
              - user.password
              - "a.b.c"
            after-merge: DELETE FROM cache
            tls-client-ca: clients.pem
            bandwidth: 2M
            requests-per-second: 40
            """
        let read = try load(text)
        #expect(read.mistakes.isEmpty, "\(read.mistakes)")
        let configuration = try #require(read.configuration)
        let directory = workspace.directory.path
        #expect(configuration.database == "\(directory)/shop.sqlite")
        #expect(configuration.listen == ListenAddress(host: "::1", port: 0))
        #expect(configuration.tokenFile == "/etc/syncd/token")
        #expect(configuration.tokens == "\(directory)/tokens")
        #expect(configuration.peers.map(\.address) == ["http://a:1", "\(directory)/other.sqlite", "https://b:2"])
        #expect(configuration.peers[2].tokenFile == "\(directory)/b.token")
        #expect(configuration.peers[2].tlsAuthority == "\(directory)/b.pem")
        #expect(configuration.peers[2].tlsCertificate == "\(directory)/c.pem")
        #expect(configuration.peers.map(\.direction) == [nil, nil, .push])
        #expect(configuration.peers[2].tlsKey == "\(directory)/c.key")
        #expect(configuration.tlsCertificate == "\(directory)/cert.pem")
        #expect(configuration.tlsKey == "$CREDENTIALS_DIRECTORY/key")
        #expect(configuration.tlsAuthority == "\(directory)/ca.pem")
        #expect(configuration.tlsClientAuthority == "\(directory)/clients.pem")
        #expect(configuration.bandwidth?.bytesPerSecond == 2_000_000 && configuration.requestsPerSecond == 40)
        #expect(configuration.peers.map(\.bandwidth?.bytesPerSecond) == [nil, nil, 64_000])
        #expect(configuration.peers[2].tlsPin?.hasPrefix("sha256//Yh") == true)
        #expect(configuration.logLevel == .warning && configuration.logFormat == .json)
        #expect(
            configuration.hooks == [
                .conflict: "cat > /dev/null; echo 1", .held: "/bin/held --now", .mismatch: "exit 1",
            ])
        #expect(configuration.conflictDays == 7 && configuration.conflictsPerRow == 3)
        #expect(configuration.keep == TimeSpan("12h") && configuration.lease == TimeSpan("90d"))
        #expect(configuration.recapture == .manual)
        #expect(configuration.collect == TimeSpan("400d") && configuration.archiveFlush == TimeSpan("5s"))
        #expect(configuration.extensions == ["\(directory)/./program.so", "/usr/lib/spatial.so", "mod_spatialite"])
        #expect(configuration.secrets.map(\.table) == ["user", "a.b"])
        #expect(configuration.secrets.map(\.column) == ["password", "c"])
        #expect(configuration.afterMerge == "DELETE FROM cache")
        #expect(Set(configuration.places.keys) == Set(ConfigurationKey.allCases).subtracting([.databases]))
        #expect(configuration.places[.tlsAuthority]?.line == 11)
    }

    @Test("a rate of a peer goes before that of the daemon, and is no rate of a file")
    func bandwidth() throws {
        for text in ["1", "63999", "2m", "k", "-1M", "1.5M", "1e9", "9999999999999G", "٣M"] {
            #expect(Bandwidth(text) == nil, "\(text)")
        }
        let rates = try check(
            """
            database: a
            bandwidth: 2M
            peer:
              - http://a:1
              - {url: "http://b:1", bandwidth: 64000}
              - {url: "s3://bucket/shop?endpoint=http://c:1", bandwidth: 1M}
              - file:///tmp/archive
            """)
        #expect(rates.settings?.peers.map(\.bytesPerSecond) == [2_000_000, 64_000, 1_000_000, nil])
        let found = try check(
            """
            bandwidth: fast
            requests-per-second: 0
            peer:
              - {url: "file:///tmp/archive", bandwidth: 1M}
              - {url: "https://b:1", bandwidth: 1k, tls-pin: "sha256//short"}
            """)
        let mistakes = try #require(ConfigurationMistakes(found.mistakes, in: nil)).all
        #expect(mistakes.map(\.place?.line) == [1, 2, 4, 5, 5], "\(mistakes)")
        #expect(mistakes.map(\.key) == ["bandwidth", "requests-per-second", "peer", "bandwidth", "tls-pin"])
    }

    @Test("each mistake of one file is said, in the order of its lines, with the key and what to do")
    func mistakes() throws {
        let check = try check(
            """
            listen: 0.0.0.0
            tokn-file: x
            peer:
              - http://a:1
              - url: ftp://b
                frob: 1
              - {token-file: none}
              - none.sqlite
            log-level: loud
            conflict-days: 0
            conflicts-per-row: many
            tls-cert: none.pem
            database:
            tls-ca: [a]
            log-format: xml
            on-held:
            secret: [user]
            extension: ./none.so
            """)
        #expect(check.settings == nil)
        let mistakes = try #require(ConfigurationMistakes(check.mistakes, in: "shop.yaml")).all
        #expect(
            mistakes.map { "\($0.place?.line ?? 0) \($0.key ?? "")" } == [
                "1 listen", "2 tokn-file", "5 peer", "6 frob", "7 url", "8 peer", "9 log-level",
                "10 conflict-days", "11 conflicts-per-row", "12 tls-cert", "13 database", "14 tls-ca",
                "15 log-format", "16 on-held", "17 secret", "18 extension",
            ])
        #expect(mistakes.allSatisfy { !$0.message.isEmpty && !$0.hint.isEmpty })
    }

    @Test(
        "a text that is no list of keys is one mistake, with its line",
        arguments: [
            ("", 1), ("# nothing", 1), ("[]", 1), ("listen", 1), ("listen: [", 2), ("a: b: c", 1),
            ("listen: \"x", 1), ("log-level: info\nlog-level: info", 1), ("\t- a", 1), ("a: *b", 1),
            (String(repeating: "[", count: 100_000), 1), (String(repeating: "- ", count: 100_000), 1),
        ])
    func unreadable(text: String, line: Int) throws {
        let read = try load(text)
        #expect(read.configuration == nil)
        #expect(read.mistakes.count == 1)
        #expect(read.mistakes.first?.place?.line == line, "\(read.mistakes)")
    }

    @Test("JSON is read, too")
    func json() throws {
        let read = try load(#"{"listen": "127.0.0.1:0", "peer": ["http://a:1"], "conflict-days": 5}"#)
        #expect(read.mistakes.isEmpty)
        #expect(read.configuration?.conflictDays == 5)
        #expect(read.configuration?.peers.map(\.address) == ["http://a:1"])
    }

    @Test("a peer has its own token and authorities, and otherwise those of the daemon")
    func peers() throws {
        _ = try workspace.write("ours\n", to: "ours")
        _ = try workspace.write("theirs\n", to: "theirs")
        _ = try workspace.write("", to: "ca.pem")
        _ = try workspace.write("", to: "b.pem")
        let check = try check(
            """
            database: shop.sqlite
            token-file: ours
            tls-ca: ca.pem
            peer:
              - https://a:1
              - {url: "https://b:1", token-file: theirs, tls-ca: b.pem}
            """)
        let settings = try #require(check.settings, "\(check.mistakes)")
        let expected = [("https://a:1", "ours", "ca.pem"), ("https://b:1", "theirs", "b.pem")]
        #expect(
            try settings.peers
                == expected.map { address, token, authorities in
                    try PeerConfiguration(
                        address, token: BearerToken(token), tls: TLSFiles(authorities: workspace.path(authorities)))
                })
    }

    @Test("flags win over the file, and the peers of both are followed")
    func flags() throws {
        var flags = Configuration()
        flags.database = "other.sqlite"
        flags.listen = ListenAddress(host: "127.0.0.1", port: 1)
        flags.peers = [PeerSettings("http://b:1")]
        flags.logLevel = .debug
        let settings = try check(
            "database: a.sqlite\nlisten: 192.0.2.1:1\nlog-level: error\nconflict-days: 3\npeer: [\"http://a:1\"]",
            flags: flags
        ).settings
        #expect(settings?.database == "other.sqlite")
        #expect(settings?.address.port == 1)
        #expect(settings?.logLevel == .debug)
        #expect(settings?.conflictDays == 3)
        #expect(settings?.peers.map(\.name) == ["http://a:1", "http://b:1"])
    }

    @Test("credentials are read from the directory that systemd makes, also when its access list shows as a group's")
    func credentials() throws {
        _ = try workspace.write("secret\n", to: "token", mode: 0o440)
        let text = "database: a.sqlite\ntoken-file: $CREDENTIALS_DIRECTORY/token"
        let found = try check(text, environment: ["CREDENTIALS_DIRECTORY": workspace.directory.path])
        #expect(found.settings?.token?.secret == "secret", "\(found.mistakes)")
        let elsewhere = try check("database: a.sqlite\ntoken-file: \(workspace.path("token"))")
        #expect(elsewhere.mistakes.first?.message.contains("other users") == true)
        let without = try check(text)
        #expect(without.mistakes.isEmpty && without.settings == nil)
        #expect(without.unchecked == ["$CREDENTIALS_DIRECTORY/token"])
    }

    @Test("the example has every key, and no mistake, also with every line in use")
    func example() throws {
        for key in ConfigurationKey.allCases {
            #expect(ConfigurationExample.text.contains("\n\(key.isSetInExample ? "" : "#")\(key.rawValue):"))
        }
        let lines = ConfigurationExample.text.split(separator: "\n", omittingEmptySubsequences: false)
        // A sentence follows "# "; a line of the file follows "#", or begins with two spaces.
        let all = lines.map { $0.wholeMatch(of: /#(?! \S).*/) == nil ? $0 : $0.dropFirst() }
        // The last key stands instead of `database`.
        let start = try #require(all.firstIndex { $0.hasPrefix("databases:") })
        let ofOne = all[..<start].joined(separator: "\n")
        for text in [ConfigurationExample.text, ofOne] {
            let read = try load(text)
            #expect(read.mistakes.isEmpty, "\(read.mistakes)")
            #expect(read.configuration?.database == "/var/lib/syncd/shop.sqlite")
        }
        #expect(try load(ofOne).configuration?.places.count == ConfigurationKey.allCases.count - 1)
        let several = try load(all[start...].joined(separator: "\n"))
        #expect(several.mistakes.isEmpty, "\(several.mistakes)")
        #expect(several.configuration?.databases?.map(\.name) == ["shop", "stock"])
        #expect(lines.allSatisfy { $0.count <= 110 })
    }

    @Test("docs/CLI.md has a row for each key of a file and of a peer")
    func documented() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/CLI.md"), encoding: .utf8)
        let parts = text.components(separatedBy: "### The configuration file")
        try #require(parts.count == 2)
        let section = parts[1].components(separatedBy: "\n## ")[0]
        for name in ConfigurationKey.allCases.map(\.rawValue) + PeerKey.allCases.map(\.rawValue) {
            #expect(section.contains("\n| `\(name)` |"), "\(name)")
        }
    }
}

extension ConfigurationCheck {
    /// Those of the first database.
    var settings: DaemonSettings? { databases.first?.check.settings }
}
