import Foundation
import TestSupport
import Testing

@testable import SyncdCore

@Suite("syncd store collect")
struct CollectCommandTests {
    private let workspace = Workspace()

    @Test("says what would go, marks it, removes it, and the archive stays whole")
    func collects() async throws {
        let directory = workspace.path("archive")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let archive = "file://\(directory)"
        let replica = try await workspace.makeReplica()
        // The second exchange tells what the replica has merged.
        for _ in 0..<2 { #expect(try await Tool.run("sync", replica, archive).status == 0) }

        let early = try await Tool.run("store", "collect", archive)
        #expect(early.status == 0)
        #expect(early.output.contains("stays    there is no whole snapshot: see `syncd store snapshot`"), "\(early)")
        #expect(try await Tool.run("store", "snapshot", replica, archive).status == 0)
        #expect(try await Tool.run("store", "collect", archive).output.contains("would be 0 packs"))
        let dry = try await Tool.run("store", "collect", archive, "--keep", "0s")
        #expect(dry.output.contains("marked   would be 1 pack, 0 snapshots"), "\(dry)")
        #expect(dry.output.hasSuffix("Nothing was changed. With --apply, it is done.\n"))

        let marked = try await Tool.run("store", "collect", archive, "--keep", "0s", "--apply")
        #expect(marked.output.contains("removed  0 packs") && marked.output.contains("marked   1 pack"), "\(marked)")
        let waiting = try await Tool.run("store", "collect", archive, "--keep", "0s", "--apply")
        #expect(waiting.output.contains("waiting  1 marked object, from 20"), "\(waiting)")
        let removed = try await Tool.run("store", "collect", archive, "--grace", "0s", "--apply", "--json")
        #expect(
            removed.output.contains(
                /"dry_run":false,"removed":{"packs":1,"snapshots":0,"bytes":[1-9][0-9]*},"marked":{"packs":0,/),
            "\(removed)")
        let verified = try await Tool.run("store", "verify", archive)
        #expect(verified.status == 0 && verified.output.hasPrefix("Whole: 0 packs, 1 snapshot"), "\(verified)")
        let clone = workspace.path("clone.sqlite")
        #expect(try await Tool.run("clone", archive, clone).status == 0)
        #expect(try await Tool.run("sync", clone, archive).status == 0)
    }

    @Test("a directory without an archive is refused with a hint")
    func refuses() async throws {
        let result = try await Tool.run("store", "collect", "file://\(workspace.directory.path)")
        #expect(result.status == 1)
        #expect(result.errors.contains("There is no archive at") && result.errors.contains("Hint:"), "\(result)")
    }
}
