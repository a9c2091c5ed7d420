import Foundation
import TestSupport
import Testing

/// One process of `syncd run` that serves two databases.
@Suite("Several databases in one process", .timeLimit(.minutes(3)))
struct SeveralDaemonsTests {
    let workspace = Workspace()

    private func configure(_ shop: String = "", _ stock: String = "", top: String = "") throws -> String {
        try workspace.write(
            """
            \(top)
            databases:
              shop:
                database: shop.sqlite
                listen: 127.0.0.1:0
            \(shop)
              stock:
                database: stock.sqlite
                listen: 127.0.0.1:0
            \(stock)
            """, to: "all.yaml")
    }

    private func makeReplicas() async throws {
        _ = try await workspace.makeReplica("shop.sqlite", rows: 3, cluster: "shop")
        _ = try await workspace.makeReplica("stock.sqlite", rows: 3, cluster: "stock")
    }

    /// Waits for the next message that is no sign of life.
    private func nextNews(_ socket: NotifySocket) async throws -> String {
        while true {
            let message = try await socket.next()
            if message != "WATCHDOG=1" { return message }
        }
    }

    @Test("each database replicates with its own peer; a reload adds one; the end is clean for both")
    func life() async throws {
        try await makeReplicas()
        _ = try await workspace.makeReplica("other.sqlite", rows: 9, cluster: "stock")
        let socket = try NotifySocket(workspace.path("notify"))
        let file = try configure()
        let daemon = try await DaemonProcess.start(
            configuration: file, databases: 2,
            environment: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "20000"])
        #expect(daemon.greetings.map { $0.contains("of cluster shop, for shop.") } == [true, false])
        #expect(daemon.greetings.map { $0.contains("of cluster stock, for stock.") } == [false, true])
        let ready =
            "READY=1\nSTATUS=Listening on " + daemon.ports.map { "http://127.0.0.1:\($0)" }.joined(separator: ", ")
        #expect(try await nextNews(socket) == ready)
        for _ in 1...3 { #expect(try await socket.next() == "WATCHDOG=1") }

        let far = try await workspace.makeReplica("far.sqlite", rows: 5, cluster: "shop")
        let sync = try await Tool.run("sync", far, "http://127.0.0.1:\(daemon.ports[0])")
        #expect(sync.status == 0, "\(sync)")
        #expect(try workspace.value(workspace.path("shop.sqlite"), "SELECT count(*) FROM person", as: Int.self) == 5)
        let wrong = try await Tool.run("sync", far, "http://127.0.0.1:\(daemon.ports[1])")
        #expect(wrong.status == 1 && wrong.errors.contains("cluster"), "\(wrong)")

        _ = try configure("", "    peer: [other.sqlite]")
        kill(daemon.processIdentifier, SIGHUP)
        #expect(try await nextNews(socket) == "RELOADING=1")
        #expect(try await nextNews(socket) == "READY=1")
        let stock = workspace.path("stock.sqlite")
        try await workspace.wait(for: stock) {
            try workspace.value(stock, "SELECT count(*) FROM person", as: Int.self) == 9
        }
        for (port, name) in zip(daemon.ports, ["shop", "stock"]) {
            let answer = try await RawHTTP.request("GET", "/v1/status", port: port)
            #expect(answer.body.contains(#""cluster":"\#(name)""#), "\(answer.body)")
            #expect(answer.body.contains("other.sqlite") == (name == "stock"))
        }
        kill(daemon.processIdentifier, SIGTERM)
        #expect(try await nextNews(socket) == "STOPPING=1")
        let (status, log) = await daemon.stop(0)
        #expect(status == 0, "\(log)")
        let lines = log.split(separator: "\n")
        func count(_ text: String, of name: String) -> Int {
            lines.count { $0.contains(text) && $0.contains("database=\(name)") }
        }
        #expect(count("configuration read again: nothing has changed", of: "shop") == 1, "\(log)")
        #expect(count("configuration read again: applied peer", of: "stock") == 1, "\(log)")
        for name in ["shop", "stock"] {
            #expect(count("stopped", of: name) == 1, "\(log)")
        }
    }

    @Test("a reload with a mistake in one database changes none; what needs a restart is named")
    func reload() async throws {
        try await makeReplicas()
        _ = try workspace.write("first\n", to: "token")
        let issued = try await Tool.run("token", "anna", "--scope", "admin", "--tokens", workspace.path("tokens"))
        let admin = try #require(issued.lines.first)
        let file = try configure("    tokens: tokens", top: "token-file: token\nlog-format: json")
        let daemon = try await DaemonProcess.start(configuration: file, databases: 2)
        func reload() async throws -> RawHTTP.Answer {
            try await RawHTTP.request(
                "POST", "/v1/admin/reload", port: daemon.ports[0], headers: [("Authorization", "Bearer \(admin)")])
        }
        func status(_ index: Int, _ token: String) async throws -> RawHTTP.Answer {
            try await RawHTTP.request(
                "GET", "/v1/status", port: daemon.ports[index], headers: [("Authorization", "Bearer \(token)")])
        }
        _ = try workspace.write("second\n", to: "other")
        _ = try configure("    tokens: tokens", "    frob: 1", top: "token-file: other\nlog-format: json")
        let refused = try await reload()
        #expect(refused.status == 422 && refused.body.contains("frob"), "\(refused)")
        for index in 0...1 {
            let answer = try await status(index, "first")
            #expect(answer.status == 200 && answer.body.contains("unknown key"), "\(answer)")
        }
        _ = try workspace.write(
            """
            token-file: other
            log-format: json
            databases:
              orders: {database: orders.sqlite, listen: "127.0.0.1:0"}
              shop: {database: shop.sqlite, listen: "127.0.0.1:1", tokens: tokens}
            """, to: "all.yaml")
        let applied = try await reload()
        #expect(
            applied.body
                == #"{"applied":["shop.token-file"],"needs_restart":["shop.listen","orders.database","stock.database"]}"#
        )
        #expect(try await status(0, "second").status == 200)
        // It is no longer in the file, and goes on as it was.
        #expect(try await status(1, "first").status == 200)
        let (end, log) = await daemon.stop()
        #expect(end == 0)
        let lines = log.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        let events = lines.filter { $0["event"] as? String == "config.applied" }
        #expect(events.map { $0["database"] as? String } == ["shop", nil], "\(log)")
        #expect((events.last?["message"] as? String)?.contains("orders") == true, "\(log)")
        #expect(lines.count { $0["event"] as? String == "config.refused" } == 1)
        #expect(
            Set(lines.filter { $0["event"] as? String == "daemon.stopped" }.compactMap { $0["database"] as? String })
                == ["shop", "stock"])
    }

    @Test("when one cannot listen, none does, and the process ends with the reason")
    func portInUse() async throws {
        try await makeReplicas()
        let third = try await DaemonProcess.start(try await workspace.makeReplica("third.sqlite"))
        let file = try workspace.write(
            """
            databases:
              shop: {database: shop.sqlite, listen: "127.0.0.1:0"}
              stock: {database: stock.sqlite, listen: "127.0.0.1:\(third.port)"}
            """, to: "all.yaml")
        let outcome = try await Tool.run("run", "--config", file)
        #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)")
        #expect(
            outcome.errors.contains("Error: stock: Listening on 127.0.0.1:\(third.port) failed"), "\(outcome.errors)")
        #expect(outcome.errors.contains("Hint: Another program uses the port."), "\(outcome.errors)")
        // The other one has ended in order.
        #expect(
            outcome.errors.split(separator: "\n").contains { $0.contains("stopped") && $0.contains("database=shop") },
            "\(outcome.errors)")
        #expect(await third.stop().status == 0)
    }

    @Test("when another daemon serves one of the files, nothing starts")
    func fileInUse() async throws {
        try await makeReplicas()
        let other = try await DaemonProcess.start(workspace.path("stock.sqlite"))
        let outcome = try await Tool.run("run", "--config", try configure())
        #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.contains("Error: stock: Another daemon already serves"), "\(outcome.errors)")
        #expect(await other.stop().status == 0)
    }

    @Test("when the file of one is removed, both end, with the reason and status 1")
    func removed() async throws {
        try await makeReplicas()
        let daemon = try await DaemonProcess.start(configuration: try configure(), databases: 2)
        try FileManager.default.removeItem(atPath: workspace.path("stock.sqlite"))
        let (status, log) = await daemon.stop(0)
        #expect(status == 1 && log.contains("Error: stock: "), "\(log)")
        #expect(
            log.split(separator: "\n").contains { $0.contains("stopped") && $0.contains("database=shop") }, "\(log)")
    }

    @Test("flags about one database are refused, and so is cloning")
    func flags() async throws {
        try await makeReplicas()
        let file = try configure()
        let before = try workspace.snapshot()
        for (flags, sentence) in [
            (["--listen", "127.0.0.1:0"], "--listen is about one database"),
            (["--peer", "http://a:1"], "--peer is about one database"),
            ([workspace.path("shop.sqlite")], "The argument DB is about one database"),
            (["--clone-from", "http://127.0.0.1:9"], "--clone-from is about one database"),
        ] {
            let outcome = try await Tool.run([Tool.path, "run", "--config", file] + flags)
            #expect(outcome.status == 1 && outcome.errors.contains(sentence), "\(outcome)")
        }
        #expect(try workspace.snapshot() == before)
    }
}
