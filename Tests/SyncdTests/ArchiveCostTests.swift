import Foundation
import Journal
import TestSupport
import Testing

@testable import Sync
@testable import SyncdCore

@Suite("What an archive costs is counted")
struct ArchiveCostTests {
    private let workspace = Workspace()

    private var requests: StoreRequests {
        var requests = StoreRequests()
        requests.creates = 1
        requests.replaces = 2
        requests.gets = 1_000
        requests.lists = 4
        requests.deletes = 5
        requests.sentBytes = 3_412
        requests.receivedBytes = 9
        return requests
    }

    @Test("one text for a file and for a daemon's answer")
    func text() throws {
        #expect(requests.total == 1_012)
        #expect(requests.summary == "1 012 requests (3 412 bytes sent, 9 received)")
        let json = "{\"peers\": [{\"url\": \"file:///a\", \"lag\": 0, \"requests\": \(requests.json.text)}]}"
        let text = try #require(StatusText(json.utf8)).text
        #expect(text == "peer  file:///a  up to date, 1 012 requests (3 412 bytes sent, 9 received)")
    }

    @Test("status, metrics and page of a daemon that follows one")
    func daemon() async throws {
        let archive = workspace.path("archive")
        try FileManager.default.createDirectory(atPath: archive, withIntermediateDirectories: false)
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica(), "--peer", "file://\(archive)")
        // Ready after the first exchange.
        var status = 0
        for _ in 0..<1_000 where status != 200 {
            status = try await RawHTTP.request("GET", "/readyz", port: daemon.port).status
        }
        #expect(status == 200)
        let text = try await Tool.run("status", daemon.url)
        #expect(text.output.contains(/file:\/\/.*, [0-9]+ requests? \(/), "\(text)")
        let json = try await Tool.run("status", daemon.url, "--json").output
        #expect(json.contains(/"requests":\{"create":[1-9][0-9]*,"replace":[0-9]+,"get":[1-9]/), "\(json)")
        let metrics = try await RawHTTP.request("GET", "/metrics", port: daemon.port).body
        let label = "peer=\"file://\(archive)\""
        for name in [
            "tandem_store_requests_total{\(label),verb=\"create\"}", "tandem_store_sent_bytes_total{\(label)}",
        ] {
            let value = metrics.split(separator: "\n").first { $0.hasPrefix(name) }?.split(separator: " ").last
            #expect(value.flatMap { Int($0) }.map { $0 > 0 } == true, "\(name): \(metrics)")
        }
        let page = try await RawHTTP.request("GET", "/", port: daemon.port).body
        #expect(page.contains(/[0-9]+ requests? \(/), "\(page)")
        #expect(await daemon.stop().status == 0)
    }
}
