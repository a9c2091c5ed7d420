import Logging
import Sync
import Testing

@testable import SyncdCore

@Suite("What a reload applies")
struct ReloadPlanTests {
    private func settings(
        database: String = "a", address: ListenAddress = .standard, token: String? = "secret", peers: [String] = [],
        days: Int = 90
    ) throws -> DaemonSettings {
        DaemonSettings(
            database: database, address: address, token: token.flatMap { Token($0) }, certificate: nil,
            peers: try peers.map { try PeerConfiguration($0) }, logLevel: .info, conflictDays: days,
            conflictsPerRow: 100, keep: TimeSpan(milliseconds: 1), lease: TimeSpan(milliseconds: 1))
    }

    @Test("few open files are enough to start; more of them serve added peers first, then clients")
    func capacity() {
        let cases: [(spare: Int, peers: Int, connections: Int)] = [
            (0, 2, 32), (7, 2, 39), (8, 3, 32), (128, 18, 32), (1_000, 18, 904), (.max, 18, 1_024),
        ]
        for (spare, peers, connections) in cases {
            let capacity = ProcessSetup.Capacity(spare: spare, atMost: 1_024, peers: 2)
            #expect(capacity.peers == peers && capacity.connections == connections, "\(spare): \(capacity)")
        }
    }

    @Test("nothing changes when the settings are the same")
    func same() throws {
        let running = try settings(peers: ["http://a:1"])
        let plan = try ReloadPlan(from: running, to: running, peersAtMost: 16)
        #expect(plan.settings == running && plan.applied.isEmpty && plan.waiting.isEmpty)
        #expect(plan.summary == "nothing has changed")
    }

    @Test("tokens and peers change at once; database, address and limits wait")
    func parts() throws {
        let running = try settings()
        let address = ListenAddress(host: "127.0.0.1", port: 1)
        let wanted = try settings(database: "b", address: address, token: "new", peers: ["http://a:1"], days: 3)
        let plan = try ReloadPlan(from: running, to: wanted, peersAtMost: 16)
        #expect(plan.applied == [.tokenFile, .peers])
        #expect(plan.waiting == [.database, .listen, .conflictDays])
        #expect(plan.settings == (try settings(token: "new", peers: ["http://a:1"])))
        #expect(plan.summary == "applied token-file, peer; needs a restart: database, listen, conflict-days")
    }

    @Test("the limit of requests changes at once")
    func rates() throws {
        let running = try settings(peers: ["http://a:1"])
        var wanted = try settings(peers: ["http://a:1"])
        wanted.requestsPerSecond = 7
        let plan = try ReloadPlan(from: running, to: wanted, peersAtMost: 16)
        #expect(plan.applied == [.requestsPerSecond] && plan.waiting.isEmpty)
        #expect(plan.settings.requestsPerSecond == 7)
    }

    @Test("the token of a daemon that others can reach cannot be taken away")
    func token() throws {
        let running = try settings(address: ListenAddress(host: "0.0.0.0", port: 1))
        let wanted = try settings(token: nil)
        #expect(throws: Failure.self) { try ReloadPlan(from: running, to: wanted, peersAtMost: 16) }
        let plan = try ReloadPlan(from: settings(), to: wanted, peersAtMost: 16)
        #expect(plan.settings.token == nil)
    }

    @Test("more peers than the process has descriptors for are refused")
    func peers() throws {
        let wanted = try settings(peers: ["http://a:1", "http://b:1"])
        #expect(throws: Failure.self) { try ReloadPlan(from: settings(), to: wanted, peersAtMost: 1) }
    }
}
