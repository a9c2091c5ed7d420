import Foundation
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("What contested keys cost")
struct ContestedKeyCostTests {
    private let directory = TemporaryDirectory()

    /// Processor time of this thread in seconds. It does not depend on how busy the machine is.
    private func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The processor time in which a replica merges `count` rows of another one that has chosen the same keys.
    private func time(of count: Int, keys: String) throws -> Double {
        let replicas = try ["a", "b"].map { name in
            let replica = try ReplicaFixture(
                directory.file("\(name)\(count)\(keys).sqlite"),
                schema: "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
            try replica.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO t SELECT \(keys), '\(name)' || i FROM n
                """)
            return replica
        }
        let began = seconds()
        try replicas[0].pull(from: replicas[1])
        let time = seconds() - began
        for replica in replicas { try replica.close() }
        return time
    }

    @Test(
        "eight times as many rows whose keys two machines have given take about eight times as long",
        arguments: ["NULL", "i"])
    func proportion(keys: String) throws {
        // What is loaded and compiled once.
        _ = try time(of: 10, keys: keys)
        let (few, many) = (try time(of: 250, keys: keys), try time(of: 2_000, keys: keys))
        #expect(many < 16 * few)
    }
}
