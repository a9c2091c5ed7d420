import Foundation
import Logging
import Sync
import TestSupport
import Testing

@testable import SyncdCore

@Suite("A configuration of several databases")
struct SeveralDatabasesTests {
    let workspace = Workspace()

    private func check(_ text: String, flags: Configuration = Configuration()) throws -> ConfigurationCheck {
        let file = try workspace.write(text, to: "all.yaml")
        return try ConfigurationCheck(
            ConfigurationSource(flags: flags, file: file), Credentials(environment: [:]))
    }

    private func mistakes(_ text: String, flags: Configuration = Configuration()) throws -> [ConfigurationMistake] {
        ConfigurationMistakes(try check(text, flags: flags).mistakes, in: "all.yaml")?.all ?? []
    }

    @Test("each database has its keys, and what stands at the top for those that it does not have")
    func defaults() throws {
        _ = try workspace.write("one\n", to: "token")
        _ = try workspace.write("two\n", to: "other")
        let check = try check(
            """
            databases:
              shop:
                database: shop.sqlite
                listen: 127.0.0.1:1
                peer: [http://a:1, http://b:1]
                keep: 3d
                after-merge: DELETE FROM cache
              stock:
                database: stock.sqlite
                listen: 127.0.0.1:2
                token-file: other
                log-level: debug
                secret: [user.password]
            token-file: token
            keep: 12h
            bandwidth: 1M
            log-format: json
            """)
        #expect(check.mistakes.isEmpty, "\(check.mistakes)")
        let settings = check.databases.compactMap(\.check.settings)
        #expect(settings.map(\.name) == ["shop", "stock"])
        #expect(settings.map(\.database) == [workspace.path("shop.sqlite"), workspace.path("stock.sqlite")])
        #expect(settings.map(\.address.port) == [1, 2])
        #expect(settings.map(\.token?.secret) == ["one", "two"])
        #expect(settings.map(\.keep) == [TimeSpan("3d"), TimeSpan("12h")])
        #expect(settings.map { $0.peers.map(\.bytesPerSecond) } == [[1_000_000, 1_000_000], []])
        #expect(settings.map(\.logFormat) == [.json, .json])
        #expect(settings.map(\.logLevel) == [.info, .debug])
        #expect(settings.map(\.afterMerge) == ["DELETE FROM cache", nil])
        #expect(settings.map(\.secrets.count) == [0, 1])
    }

    @Test("a flag that is about no database wins over all of them")
    func flags() throws {
        var flags = Configuration()
        flags.logLevel = .error
        flags.keep = TimeSpan("1h")
        flags.extensions = ["mod_one"]
        let check = try check(
            """
            log-level: debug
            databases:
              shop: {database: shop.sqlite, keep: 2d}
              stock: {database: stock.sqlite, listen: "127.0.0.1:2"}
            """, flags: flags)
        let settings = check.databases.compactMap(\.check.settings)
        #expect(settings.map(\.logLevel) == [.error, .error], "\(check.mistakes)")
        #expect(settings.map(\.keep) == [TimeSpan("1h"), TimeSpan("1h")])
        #expect(settings.map(\.extensions) == [["mod_one"], ["mod_one"]])
        #expect(check.configuration?.extensions == ["mod_one"])
    }

    @Test("a flag that is about one database is refused beside several")
    func surplusFlags() throws {
        var flags = Configuration()
        flags.database = "a.sqlite"
        flags.listen = .standard
        flags.peers = [PeerSettings("http://a:1")]
        flags.afterMerge = "SELECT 1"
        let found = try mistakes("databases: {shop: {database: shop.sqlite}}", flags: flags)
        #expect(found.map(\.key) == ["database", "listen", "peer", "after-merge"], "\(found)")
        #expect(found.allSatisfy { $0.place == nil && $0.message.contains("names several") })
        #expect(found.first?.message.hasPrefix("The argument DB ") == true)
        #expect(found.last?.message.hasPrefix("--after-merge ") == true)
    }

    @Test("keys in the wrong place, names that are none, and databases without a file are mistakes with their lines")
    func places() throws {
        let found = try mistakes(
            """
            listen: 127.0.0.1:9
            peer: [http://a:1]
            databases:
              shop:
                log-format: json
                frob: 1
                databases: {}
                database: a.sqlite
                listen: 127.0.0.1
              a.b: {database: b.sqlite}
              stock: none
              empty: {}
            """)
        #expect(
            found.map { "\($0.place?.line ?? 0) \($0.key ?? "")" } == [
                "1 listen", "2 peer", "5 log-format", "6 frob", "7 databases", "9 listen", "10 databases",
                "11 databases", "12 database",
            ], "\(found)")
        #expect(found.allSatisfy { !$0.hint.isEmpty })
    }

    @Test("no database at all is a mistake", arguments: ["databases:", "databases: {}", "databases: [a]"])
    func none(text: String) throws {
        #expect(try mistakes(text).map(\.key) == ["databases"])
    }

    @Test("a name that is given twice is a mistake with its line")
    func twice() throws {
        let found = try mistakes("databases:\n  a: {database: a}\n  a: {database: b}\n")
        #expect(found.count == 1 && found.first?.message.contains("given twice") == true, "\(found)")
    }

    @Test("a mistake in what all databases share is said once")
    func shared() throws {
        let found = try mistakes(
            """
            tokens: none
            databases:
              shop: {database: shop.sqlite}
              stock: {database: stock.sqlite, listen: "127.0.0.1:2"}
            """)
        #expect(found.count == 1 && found.first?.place?.line == 1, "\(found)")
    }

    @Test(
        "two listeners cannot share an address",
        arguments: [
            ("127.0.0.1:1", "127.0.0.1:1", true), ("127.0.0.1:1", "127.0.0.1:2", false),
            ("127.0.0.1:0", "127.0.0.1:0", false), ("127.0.0.1:1", "localhost:1", true),
            ("[::1]:1", "localhost:1", true), ("127.0.0.1:1", "[::1]:1", false), ("0.0.0.0:1", "127.0.0.1:1", true),
            ("0.0.0.0:1", "[::1]:1", false), ("[::]:1", "192.0.2.1:1", true), ("[0:0::1]:1", "[::1]:1", true),
            ("192.0.2.1:1", "192.0.2.2:1", false), ("Host:1", "host:1", true), ("host:1", "0.0.0.0:1", true),
        ])
    func addresses(first: String, second: String, isShared: Bool) throws {
        let (first, second) = (try #require(ListenAddress(first)), try #require(ListenAddress(second)))
        #expect(first.overlaps(second) == isShared)
        #expect(second.overlaps(first) == isShared)
    }

    @Test("an address that two databases have, by default or by name, is a mistake at the second")
    func sharedAddress() throws {
        let found = try mistakes(
            """
            databases:
              shop: {database: shop.sqlite}
              stock: {database: stock.sqlite}
              orders:
                database: orders.sqlite
                listen: localhost:7707
            """)
        #expect(found.map(\.place?.line) == [3, 6, 6], "\(found)")
        #expect(found.first?.message == "shop and stock both listen on 127.0.0.1:7707")
        #expect(found.allSatisfy { $0.key == "listen" })
    }

    @Test("a file that two databases have, also by a link or before it is there, is a mistake at the second")
    func sharedFile() throws {
        let path = try workspace.makeDatabase("shop.sqlite")
        try FileManager.default.createSymbolicLink(atPath: workspace.path("link"), withDestinationPath: path)
        try FileManager.default.linkItem(atPath: path, toPath: workspace.path("hard"))
        let found = try mistakes(
            """
            databases:
              a: {database: shop.sqlite, listen: "127.0.0.1:0"}
              b: {database: link, listen: "127.0.0.1:0"}
              c: {database: new, listen: "127.0.0.1:0"}
              d: {database: ./x/../new, listen: "127.0.0.1:0"}
              e: {database: hard, listen: "127.0.0.1:0"}
            """)
        #expect(
            found.map { "\($0.place?.line ?? 0) \($0.key ?? "")" } == [
                "3 database", "5 database", "6 database", "6 database",
            ], "\(found)")
        #expect(found.first?.message == "a and b both are the file \(workspace.path("link"))")
    }

    @Test("syncd config check looks at every database, and says which there are")
    func report() async throws {
        let path = try workspace.makeDatabase("shop.sqlite")
        let text =
            "databases:\n  shop: {database: shop.sqlite}\n  stock:\n    listen: 127.0.0.1:0\n    database: none\n"
        let file = try workspace.write(text, to: "all.yaml")
        let outcome = try await Tool.run("config", "check", file, "--json")
        #expect(outcome.status == 1, "\(outcome)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect(object["database"] is NSNull)
        let databases = try #require(object["databases"] as? [[String: String]])
        #expect(
            databases == [["name": "shop", "database": path], ["name": "stock", "database": workspace.path("none")]])
        let mistakes = try #require(object["mistakes"] as? [[String: Any]])
        #expect(mistakes.map { $0["line"] as? Int } == [5])
        _ = try workspace.makeDatabase("none")
        #expect(try await Tool.run("config", "check", file).lines == ["No mistakes."])
    }
}
