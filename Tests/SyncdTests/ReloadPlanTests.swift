import Journal
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
        let shared = ProcessSetup.Capacity(spare: 328, atMost: 1_024, peers: 2, databases: 2)
        #expect(shared.peers == 18 && shared.connections == 132)
    }

    @Test("nothing changes when the settings are the same")
    func same() throws {
        let running = try settings(peers: ["http://a:1"])
        let plan = try ReloadPlan(from: running, to: running)
        #expect(plan.settings == running && plan.applied.isEmpty && plan.waiting.isEmpty)
        #expect(plan.summary == "nothing has changed")
    }

    @Test("tokens and peers change at once; database, address and limits wait")
    func parts() throws {
        let running = try settings()
        let address = ListenAddress(host: "127.0.0.1", port: 1)
        let wanted = try settings(database: "b", address: address, token: "new", peers: ["http://a:1"], days: 3)
        let plan = try ReloadPlan(from: running, to: wanted)
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
        let plan = try ReloadPlan(from: running, to: wanted)
        #expect(plan.applied == [.requestsPerSecond] && plan.waiting.isEmpty)
        #expect(plan.settings.requestsPerSecond == 7)
    }

    @Test("the token of a daemon that others can reach cannot be taken away")
    func token() throws {
        let running = try settings(address: ListenAddress(host: "0.0.0.0", port: 1))
        let wanted = try settings(token: nil)
        #expect(throws: Failure.self) { try ReloadPlan(from: running, to: wanted) }
        let plan = try ReloadPlan(from: settings(), to: wanted)
        #expect(plan.settings.token == nil)
    }

    @Test("more peers than the process has descriptors for are refused")
    func peers() throws {
        let wanted = try settings(peers: ["http://a:1", "http://b:1"])
        #expect(throws: Failure.self) { try ReloadPlans(from: [settings()], to: [wanted], peersAtMost: 1) }
        #expect(try ReloadPlans(from: [settings()], to: [wanted], peersAtMost: 2).plans.count == 1)
    }

    private func named(_ name: String, peers: [String] = [], token: String? = "secret") throws -> DaemonSettings {
        var settings = try settings(token: token, peers: peers)
        settings.name = name
        return settings
    }

    @Test("each of several databases has its plan; those that come or go need a restart, and are named")
    func several() throws {
        let running = [try named("shop"), try named("old")]
        let wanted = [try named("new"), try named("shop", peers: ["http://a:1"])]
        let plans = try ReloadPlans(from: running, to: wanted, peersAtMost: 16)
        #expect(plans.plans.map { $0?.applied } == [[.peers], nil])
        #expect(plans.added == ["new"] && plans.removed == ["old"])
        #expect(
            plans.summary
                == "new, and served after a restart: new; in the configuration no more, and served until a restart: old"
        )
        #expect(plans.json.text == #"{"applied":["shop.peer"],"needs_restart":["new.database","old.database"]}"#)
        let same = try ReloadPlans(from: running, to: running, peersAtMost: 16)
        #expect(same.summary == nil && same.json.text == #"{"applied":[],"needs_restart":[]}"#)
    }

    @Test("peers of all databases count together, and a mistake of one is the mistake of all")
    func together() throws {
        let running = [try named("shop"), try named("stock")]
        let wanted = [try named("shop", peers: ["http://a:1"]), try named("stock", peers: ["http://b:1"])]
        #expect(throws: Failure.self) { try ReloadPlans(from: running, to: wanted, peersAtMost: 1) }
        var exposed = try named("stock")
        exposed = DaemonSettings(
            name: "stock", database: "a", address: ListenAddress(host: "0.0.0.0", port: 1), token: exposed.token,
            certificate: nil, peers: [], logLevel: .info, conflictDays: 90, conflictsPerRow: 100, keep: exposed.keep,
            lease: exposed.lease)
        let error = #expect(throws: Failure.self) {
            try ReloadPlans(
                from: [running[0], exposed], to: [wanted[0], named("stock", token: nil)], peersAtMost: 16)
        }
        #expect(
            error?.message.hasPrefix("stock: The token cannot be taken away") == true, "\(String(describing: error))")
    }

    @Test("a file of one database that names several now needs a restart, and so the other way round")
    func rearranged() throws {
        let (one, several) = ([try settings()], [try named("shop"), try named("stock")])
        for (running, wanted) in [(one, several), (several, one)] {
            let plans = try ReloadPlans(from: running, to: wanted, peersAtMost: 16)
            #expect(plans.plans.allSatisfy { $0 == nil } && plans.removed.isEmpty && plans.added.isEmpty)
            #expect(plans.json.text == #"{"applied":[],"needs_restart":["databases"]}"#)
            #expect(plans.summary?.contains("needs a restart") == true)
        }
    }
}
