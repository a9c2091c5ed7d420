import BenchSupport
import Foundation
import Store

/// One repetition: each step on every side, in sequence.
struct StoreRound {
    private(set) var plainInsert = Cost(cpu: 0, wall: 0)
    private(set) var manualInsert = Cost(cpu: 0, wall: 0)
    private(set) var codableInsert = Cost(cpu: 0, wall: 0)
    private(set) var insert = Cost(cpu: 0, wall: 0)
    private(set) var create = Cost(cpu: 0, wall: 0)
    private(set) var plainFetch = Cost(cpu: 0, wall: 0)
    private(set) var manualFetch = Cost(cpu: 0, wall: 0)
    private(set) var codableFetch = Cost(cpu: 0, wall: 0)
    private(set) var values = Cost(cpu: 0, wall: 0)
    private(set) var objects = Cost(cpu: 0, wall: 0)
    private(set) var findNanoseconds = 0.0
    private(set) var updates: [Cost] = []
    private(set) var updatesWithObjects: [Cost] = []
    private(set) var refreshes: [Cost] = []

    static let held = 1_000
    private static let updates = 3
    private let sample: Sample
    private let directory: String

    init(_ sample: Sample, directory: String) throws {
        self.sample = sample
        self.directory = directory
        let plain = try PlainSide(path: path("plain"))
        try plain.execute(Sample.schema)
        let manual = try grdb("manual")
        let codable = try grdb("codable")
        let store = try StoreSide(path: path("store"), captured: false)

        plainInsert = try measure { try plain.insert(sample) }
        manualInsert = try measure { try manual.insert(sample, ManualPerson.init) }
        codableInsert = try measure { try codable.insert(sample, CodablePerson.init) }
        insert = try measure { try store.insert(sample) }
        let live = try StoreSide(path: path("live"), captured: false)
        create = try StoreRound.keeping { try live.create(sample) }
        try live.database.close()

        plainFetch = try StoreRound.keeping { try plain.fetch() }
        manualFetch = try StoreRound.keeping { try manual.fetch(ManualPerson.self) }
        codableFetch = try StoreRound.keeping { try codable.fetch(CodablePerson.self) }
        values = try StoreRound.keeping { try store.values() }
        try store.database.close()
        // A new database, so that none of the inserted objects is left.
        let reopened = try Database(path: path("store"))
        objects = try StoreRound.keeping { try Person.all(in: reopened) }
        try reopened.close()
        try manual.close()
        try codable.close()
        try liveSteps()
    }

    /// The cost of following changes, on a captured table.
    private mutating func liveSteps() throws {
        let store = try StoreSide(path: path("captured"), captured: true)
        try store.insert(sample)
        let ids = (0..<StoreRound.held).map { sample.id($0 * sample.count / StoreRound.held) }
        let objects = try Person.find(ids, in: store.database)
        guard objects.count == ids.count else { throw BenchError("\(objects.count) of \(ids.count) were found") }
        // The same statement on the same rows, by a database without objects in memory.
        let bare = try StoreSide(path: path("bare"), captured: true)
        try bare.insert(sample)
        for _ in 0..<StoreRound.updates {
            updates.append(try measure { try bare.bulkUpdate() })
            updatesWithObjects.append(try measure { try store.bulkUpdate() })
            // The difference of the two by itself: each object reads its row again.
            refreshes.append(try measure { try store.database.notifyExternalChange() })
        }
        try bare.database.close()
        let expected = Double(StoreRound.updates)
        let unchanged = zip(objects, ids).filter { $0.score != sample.score(Int($1) - 1) + expected }.count
        guard unchanged == 0 else { throw BenchError("\(unchanged) objects did not follow") }

        let times = 200
        var found = 0
        let cost = try measure { found = try store.find(ids, times: times) }
        guard found == times * ids.count else { throw BenchError("\(found) finds succeeded") }
        // The objects must be in memory up to here.
        withExtendedLifetime(objects) {}
        findNanoseconds = cost.cpu * 1e9 / Double(found)
        try store.database.close()
    }

    /// Measures `body` without the release of its result.
    private static func keeping<Result>(_ body: () throws -> Result) rethrows -> Cost {
        var result: Result?
        let cost = try measure { result = try body() }
        withExtendedLifetime(result) {}
        return cost
    }

    private func grdb(_ name: String) throws -> GRDBSide {
        let side = try GRDBSide(path: path(name))
        try side.execute(Sample.schema)
        return side
    }

    private func path(_ name: String) -> String { "\(directory)/\(name).sqlite" }
}
