import GRDB
import Journal
import Testing

@testable import Sync

/// A change that no peer would accept.
@Suite("A change that is larger than peers accept")
struct LargeChangeTests {
    @Test("is named by table and version, and what was written before it arrives", arguments: ReplicaPair.Way.allCases)
    func named(way: ReplicaPair.Way) async throws {
        var limits = Limits.standard
        limits.rawBatchBytes = 20_000
        limits.bytesPerBatch = 1_000
        let pair = try ReplicaPair(way, limits: limits)
        try ReplicaPair.insert(pair.a, 1..<40)
        try pair.a.write { try $0.execute(sql: "INSERT INTO person VALUES (50, 'x', 1, randomblob(30000))") }
        do {
            try await pair.sync()
            Issue.record("it was taken")
        } catch let error as SyncError {
            #expect(error.code == .tooLarge)
            #expect(error.message.contains("table person, version 40 of"))
            #expect(error.hint?.isEmpty == false)
        }
        #expect(try pair.count(pair.b) == 39)
    }
}
