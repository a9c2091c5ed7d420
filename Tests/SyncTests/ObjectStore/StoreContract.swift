import Foundation
import Synchronization
import Testing

@testable import Sync

/// What every object store has to keep. Each rule uses a key prefix of its own, and leaves nothing behind.
enum StoreContract: String, CaseIterable, CustomTestStringConvertible {
    case createsOnce = "a key is created once, and keeps its first object"
    case race = "of 24 that create one key at the same time, one succeeds, and its object is there"
    case replaces = "an object is replaced, whether there was one or not"
    case ranges = "parts of an object are read, as far as it reaches"
    case missing = "an object that is not there is nil, and to remove it does nothing"
    case lists = "a listing has the keys in the order of their bytes, with sizes, tags and times"
    case after = "a listing begins behind the key that was given, whether it is there or not"
    case continues = "a listing of more objects than one answer has goes on where it ended"
    case similarKeys = "keys that begin alike are different keys"
    case removes = "a removed object is gone, can be created again, and leaves the others"
    case empty = "an object without bytes is an object"
    case large = "an object of 9 MiB with any bytes comes back as it was"
    case tags = "the tag of an object changes when it is replaced"
    case parallel = "writers and readers at the same time do not disturb each other"
    case cancelled = "a cancelled call ends"
    case badKeys = "a key with other characters is refused"

    var testDescription: String { rawValue }

    func check(_ store: any ObjectStore) async throws {
        let prefix = "contract/\(String(UInt64.random(in: .min ... .max), radix: 16))/"
        try await check(store, prefix)
        for object in try await store.listAll(prefix) { try await store.delete(object.key) }
    }

    private func check(_ store: any ObjectStore, _ p: String) async throws {
        @Sendable func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        func keys(_ listing: Listing) -> [String] { listing.objects.map { String($0.key.dropFirst(p.count)) } }
        switch self {
        case .createsOnce:
            #expect(try await store.create(p + "a", bytes("first")))
            #expect(try await !store.create(p + "a", bytes("second")))
            #expect(try await store.get(p + "a") == bytes("first"))
            #expect(try await StoreAbilities.probe(store, key: p + "probe").createsOnce)
        case .race:
            let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<24 {
                    group.addTask { try await store.create(p + "a", bytes("writer \(number)")) ? number : nil }
                }
                return try await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
            }
            #expect(winners.count == 1)
            #expect(try await store.get(p + "a") == bytes("writer \(winners.first ?? -1)"))
        case .replaces:
            try await store.replace(p + "a", bytes("first"))
            #expect(try await store.get(p + "a") == bytes("first"))
            try await store.replace(p + "a", bytes("2"))
            #expect(try await store.get(p + "a") == bytes("2"))
        case .ranges:
            #expect(try await store.create(p + "a", bytes("0123456789")))
            for (range, part) in [
                (0..<10, "0123456789"), (0..<1, "0"), (3..<7, "3456"), (9..<10, "9"), (4..<99, "456789"),
            ] {
                #expect(try await store.get(p + "a", range: range) == bytes(part))
            }
            for range in [10..<11, 500..<600, 0..<0, 4..<4] {
                #expect(try await store.get(p + "a", range: range) == [])
            }
            #expect(try await store.get(p + "b", range: 0..<4) == nil)
        case .missing:
            #expect(try await store.get(p + "a") == nil)
            #expect(try await store.get(p + "a/b/c") == nil)
            try await store.delete(p + "a")
            #expect(try await store.list(p, after: nil) == Listing(objects: [], isCut: false))
        case .lists:
            let now = SystemClock().wallMilliseconds()
            for key in ["b/2", "a", "b/1", "c-d", "c.d", "b/10"] { try await store.replace(p + key, bytes(key)) }
            let listing = try await store.list(p, after: nil)
            #expect(keys(listing) == ["a", "b/1", "b/10", "b/2", "c-d", "c.d"])
            #expect(!listing.isCut)
            for object in listing.objects {
                #expect(object.size == object.key.utf8.count - p.utf8.count)
                #expect(!object.tag.isEmpty)
                #expect(object.milliseconds > 1_500_000_000_000 && object.milliseconds < now + 3_600_000)
            }
            #expect(try await keys(store.list(p + "b/", after: nil)) == ["b/1", "b/10", "b/2"])
            #expect(try await keys(store.list(p + "b/1", after: nil)) == ["b/1", "b/10"])
            #expect(try await keys(store.list(p + "c", after: nil)) == ["c-d", "c.d"])
            #expect(try await keys(store.list(p + "d", after: nil)) == [])
        case .after:
            for number in 1...5 { try await store.replace(p + "w/000\(number)", []) }
            #expect(try await keys(store.list(p + "w/", after: p + "w/0003")) == ["w/0004", "w/0005"])
            #expect(try await keys(store.list(p + "w/", after: p + "w/0003x")) == ["w/0004", "w/0005"])
            #expect(try await keys(store.list(p + "w/", after: p + "w/0005")) == [])
            #expect(try await keys(store.list(p + "w/", after: p + "a")).count == 5)
            #expect(try await keys(store.list(p, after: p + "w/0004")) == ["w/0005"])
        case .continues:
            let all = (0..<1_030).map { p + "n/" + String(1_000_000 + $0 * 7) }
            try await inParallel(all) { try await store.replace($0, []) }
            let first = try await store.list(p, after: nil)
            #expect(first.isCut && !first.objects.isEmpty)
            #expect(try await store.listAll(p).map(\.key) == all)
            #expect(try await store.listAll(p, after: all[1_000]).map(\.key) == Array(all[1_001...]))
            try await inParallel(all) { try await store.delete($0) }
        case .similarKeys:
            let all = ["k", "k-1", "k.1", "k1", "k10/a", "k11", "kk/k", "kk/kk", "kk/kk-k"]
            for key in all.reversed() { #expect(try await store.create(p + key, bytes(key))) }
            for key in all { #expect(try await store.get(p + key) == bytes(key)) }
            #expect(try await keys(store.list(p, after: nil)) == all)
            #expect(try await keys(store.list(p + "k1", after: nil)) == ["k1", "k10/a", "k11"])
        case .removes:
            for key in ["a/1", "a/2"] { #expect(try await store.create(p + key, bytes("1"))) }
            try await store.delete(p + "a/1")
            #expect(try await store.get(p + "a/1") == nil)
            #expect(try await keys(store.list(p, after: nil)) == ["a/2"])
            #expect(try await store.create(p + "a/1", bytes("2")))
            #expect(try await store.get(p + "a/1") == bytes("2"))
        case .empty:
            #expect(try await store.create(p + "a", []))
            #expect(try await store.get(p + "a") == [])
            #expect(try await store.get(p + "a", range: 0..<10) == [])
            #expect(try await store.list(p, after: nil).objects.map(\.size) == [0])
            #expect(try await !store.create(p + "a", []))
        case .large:
            let piece = (0..<65_536).map { _ in UInt8.random(in: .min ... .max) }
            var whole: [UInt8] = []
            for _ in 0..<144 { whole += piece }
            #expect(try await store.create(p + "a", whole))
            #expect(try await store.get(p + "a") == whole)
            #expect(try await store.get(p + "a", range: 65_530..<131_080) == Array(whole[65_530..<131_080]))
            #expect(try await !store.create(p + "a", whole))
        case .tags:
            func tag() async throws -> String? { try await store.list(p, after: nil).objects.first?.tag }
            try await store.replace(p + "a", bytes("1"))
            let first = try #require(await tag())
            #expect(try await tag() == first)
            try await store.replace(p + "a", bytes("2"))
            #expect(try await tag() != first)
        case .parallel:
            try await inParallel((0..<40).map { p + "x/\($0)" }) { key in
                let isNew = try await store.create(key, bytes(key))
                let found = try await store.get(key)
                let isNewAgain = try await store.create(key, [])
                #expect(isNew && !isNewAgain)
                #expect(found == bytes(key))
            }
            #expect(try await store.list(p, after: nil).objects.count == 40)
        case .cancelled:
            let (written, writes) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                while true {
                    try await store.replace(p + "a", [])
                    writes.yield()
                }
            }
            for await _ in written { break }
            task.cancel()
            let failure = await #expect(throws: SyncError.self) { try await task.value }
            #expect(failure?.code == .cancelled)
        case .badKeys:
            for key in [
                "", "/a", "a/", "a//b", "../a", "a/./b", "A", "a b", "a%2fb", "a?b", "ä", "a\u{0}", "a+b", ".a",
            ] {
                await #expect(throws: SyncError.self, "\(key)") { try await store.create(key, []) }
                await #expect(throws: SyncError.self, "\(key)") { try await store.get(key) }
                await #expect(throws: SyncError.self, "\(key)") { try await store.delete(key) }
            }
        }
    }

    /// Handles eight keys at a time.
    private func inParallel(_ keys: [String], _ body: @escaping @Sendable (String) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, key) in keys.enumerated() {
                if index >= 8 { try await group.next() }
                group.addTask { try await body(key) }
            }
            try await group.waitForAll()
        }
    }
}
