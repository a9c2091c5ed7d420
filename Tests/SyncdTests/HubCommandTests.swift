import Foundation
import TestSupport
import Testing

@testable import SyncdCore

@Suite("syncd hub", .timeLimit(.minutes(3)))
struct HubCommandTests {
    private let workspace = Workspace()

    private func makeArchive() throws -> String {
        let directory = workspace.path("archive")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        return "file://\(directory)"
    }

    private func names(_ path: String) throws -> String? {
        try workspace.value(path, "SELECT group_concat(name, ',') FROM (SELECT name FROM person ORDER BY id)")
    }

    private func wait(_ path: String, names wanted: String) async throws {
        try await workspace.wait(for: path) { try names(path) == wanted }
    }

    @Test("replicas that know only a hub have equal content, also when it is killed and another takes its place")
    func takesOver() async throws {
        let archive = try makeArchive()
        let a = try await workspace.makeReplica("a.sqlite", rows: 1)
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let first = try await DaemonProcess.startHub(archive)
        let daemons = [
            try await DaemonProcess.start(a, "--peer", first.url),
            try await DaemonProcess.start(b, "--peer", first.url),
        ]
        try await wait(b, names: "name 1")
        try workspace.execute(b, "INSERT INTO person VALUES ('p2', 'from b', 2)")
        try await wait(a, names: "name 1,from b")
        _ = await first.stop(SIGKILL)
        try workspace.execute(a, "INSERT INTO person VALUES ('p3', 'alone', 3)")
        try workspace.execute(b, "UPDATE person SET name = 'changed' WHERE id = 'p1'")
        let second = try await DaemonProcess.startHub(archive, "--listen", "127.0.0.1:\(first.port)")
        try await wait(a, names: "changed,from b,alone")
        try await wait(b, names: "changed,from b,alone")
        for daemon in daemons { #expect(await daemon.stop().status == 0) }

        // Nothing that a hub has acknowledged is anywhere else than in the archive.
        let last = try workspace.makeDatabase("c.sqlite", rows: 0)
        #expect(try await Tool.run("init", last, "--cluster", "main", "--exclude", "loose").status == 0)
        let synced = try await Tool.run("sync", last, second.url)
        #expect(synced.status == 0 && !synced.errors.contains("compared"), "\(synced)")
        #expect(try names(last) == "changed,from b,alone")
        let end = await second.stop()
        #expect(end.status == 0, "\(end.log)")
        let verified = try await Tool.run("store", "verify", archive)
        #expect(verified.status == 0, "\(verified)")
        let direct = try await Tool.run("log", a, "--json")
        #expect(direct.status == 0)
    }

    @Test("a hub tells its state, makes new replicas of the archive's snapshot, and refuses who has no token")
    func watched() async throws {
        let archive = try makeArchive()
        let a = try await workspace.makeReplica("a.sqlite")
        #expect(try await Tool.run("store", "snapshot", a, archive).status == 0)
        let token = try workspace.write("secret\n", to: "token")
        let hub = try await DaemonProcess.startHub(archive, "--token-file", token)
        #expect(hub.greeting.contains("as a hub of \(archive)"))
        let bearer = ("Authorization", "Bearer secret")
        var ready: RawHTTP.Answer
        repeat {
            ready = try await RawHTTP.request("GET", "/readyz", port: hub.port, headers: [])
        } while ready.status == 503
        #expect(ready.status == 200)
        #expect(try await RawHTTP.request("GET", "/v1/status", port: hub.port, headers: []).status == 401)
        #expect(try await RawHTTP.request("GET", "/healthz", port: hub.port, headers: []).status == 200)
        #expect(try await RawHTTP.request("GET", "/", port: hub.port, headers: [bearer]).status == 404)
        let metrics = try await RawHTTP.request("GET", "/metrics", port: hub.port, headers: [bearer]).body
        for name in [
            "tandem_hub_ready 1", "tandem_hub_frames 1", "tandem_store_requests_total", "tandem_http_requests_total",
        ] {
            #expect(metrics.contains(name), "\(metrics)")
        }
        let status = try await Tool.run("status", hub.url, "--token-file", token)
        #expect(status.status == 0 && status.output.contains(archive), "\(status)")

        let clone = workspace.path("clone.sqlite")
        let cloned = try await Tool.run("clone", hub.url, clone, "--token-file", token)
        #expect(cloned.status == 0, "\(cloned)")
        #expect(try names(clone) == names(a))
        let verified = try await Tool.run("verify", clone, hub.url, "--token-file", token)
        #expect(verified.status == 1 && verified.errors.contains("holds changes, not rows"), "\(verified)")
        let refused = try await Tool.run("sync", clone, hub.url)
        #expect(refused.status == 1 && refused.errors.contains("token"), "\(refused)")
    }

    @Test("hubs that follow each other pass changes on between replicas of theirs")
    func follows() async throws {
        let archive = try makeArchive()
        let token = try workspace.write("secret\n", to: "token")
        let a = try await workspace.makeReplica("a.sqlite", rows: 1)
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let one = try await DaemonProcess.startHub(archive, "--token-file", token)
        let two = try await DaemonProcess.startHub(archive, "--token-file", token, "--peer", one.url)
        let daemons = [
            try await DaemonProcess.start(a, "--peer", one.url, "--token-file", token),
            try await DaemonProcess.start(b, "--peer", two.url, "--token-file", token),
        ]
        try await wait(b, names: "name 1")
        try workspace.execute(b, "INSERT INTO person VALUES ('p2', 'from b', 2)")
        try await wait(a, names: "name 1,from b")
        for daemon in daemons { #expect(await daemon.stop().status == 0) }
        for hub in [two, one] { #expect(await hub.stop().status == 0) }
        #expect(try await Tool.run("store", "verify", archive).status == 0)
    }

    @Test("a hub that cannot work says why")
    func refusals() async throws {
        #expect(try await Tool.run("hub").status == 64)
        #expect(try await Tool.run("hub", "--store", "file:///x", "--memory", "0").status == 64)
        let database = try await Tool.run("hub", "--store", "http://127.0.0.1:1")
        #expect(database.status == 1 && database.errors.contains("not the address of an archive"), "\(database)")
        let file = try await Tool.run("hub", "--store", "file:///x", "--peer", "file:///y")
        #expect(file.status == 1 && file.errors.contains("is no hub"), "\(file)")
        let open = try await Tool.run("hub", "--store", "file:///x", "--listen", "0.0.0.0:0")
        #expect(open.status == 1 && open.errors.contains("without a token"), "\(open)")

        let hub = try await DaemonProcess.startHub("file://\(workspace.path("missing"))")
        let a = try await workspace.makeReplica("a.sqlite")
        let synced = try await Tool.run("sync", a, hub.url)
        #expect(synced.status == 1 && synced.errors.contains("cannot work with its store"), "\(synced)")
        #expect(try await RawHTTP.request("GET", "/readyz", port: hub.port, headers: []).status == 503)
        let end = await hub.stop()
        #expect(end.status == 0 && end.log.contains("event=hub.failed"), "\(end.log)")
    }
}
