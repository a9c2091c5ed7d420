import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("The keeper of a replica's identity")
struct IdentityKeeperTests {
    private let pair: ReplicaPair
    private let keeper: IdentityKeeper

    init() throws {
        pair = try ReplicaPair(.local)
        keeper = IdentityKeeper(replica: pair.a)
    }

    @Test("changes that were read under a name that the replica has abandoned are not published")
    func otherName() throws {
        let old = PublicationRecord.Entry(origin: OriginID(high: 9, low: 9), version: 1, digest: 1)
        let error = #expect(throws: SyncError.self) { try keeper.willPublish(old) }
        #expect(error?.code == .busy)
        #expect(!keeper.hasPublished(old.origin, through: 1))
    }

    @Test("another file at the path of the open one is an error and no evidence against a name")
    func replaced() throws {
        #expect(try keeper.evidence(time: 0) == nil)
        let moved = pair.directory.file("moved.sqlite")
        try FileManager.default.moveItem(atPath: pair.a.path, toPath: moved)
        try Data("something else".utf8).write(to: URL(fileURLWithPath: pair.a.path))
        let error = #expect(throws: SyncError.self) { try keeper.evidence(time: 0) }
        #expect(error?.code == .storage)
    }
}
