import Foundation
import Testing

/// Code that decides must not use a clock, a thread or a random number. It could not be simulated otherwise.
@Suite struct PurityTests {
    /// Every file that decides, below `Sources/`, and every folder whose files all decide.
    private static let pure = [
        "Journal/Capture/CaptureTriggers.swift", "Journal/Capture/ColumnChange.swift",
        "Journal/File/CheckpointSchedule.swift", "Journal/Log/KeyHistory.swift", "Journal/Log/LocalFold.swift",
        "Journal/Log/MergedRow.swift", "Sync/Minted/ContestedKey.swift", "Journal/SQLite/Affinity.swift",
        "Journal/Schema/ColumnSpace.swift",
        "Journal/Values/ColumnMask.swift", "Journal/Values/MergePolicy.swift", "Journal/Values/Stamp.swift",
        "Journal/Values/VersionVector.swift", "Journal/Values/WriteOrder.swift",
        "Sync/Inbox/Admission.swift", "Sync/Inbox/DeferredOrigins.swift", "Sync/Inbox/PendingParts.swift",
        "Sync/Identity/HistoryEvidence.swift", "Sync/Tables/Dependence.swift", "Sync/Tables/KeyStorage.swift",
        "Sync/Verify/PageComparison.swift", "Sync/Verify/TablePairs.swift",
        "Sync/Limits.swift", "Sync/Merge", "Sync/Backoff.swift", "Sync/Horizon/LeaseClock.swift",
        "Sync/Session/FollowState.swift",
        "Sync/Session/Handshake.swift", "Sync/Session/Pace.swift",
        "Sync/Wire/BatchCodec.swift", "Sync/Wire/BatchDecoder.swift", "Sync/Wire/BatchEncoder.swift",
        "Sync/Wire/BatchScan.swift", "Sync/Wire/Frame.swift", "Sync/Wire/FrameCodec.swift",
        "Sync/Wire/FrameParser.swift", "Sync/Wire/ValueColumns.swift",
    ]

    private static let forbidden = [
        "import Foundation", "import Dispatch", "import Glibc", "import GRDB", "import CCurl", " async ", "await ",
        "Task {", "Date()", ".random(", "SystemRandomNumberGenerator", "hashValue",
    ]

    @Test("the deciding files import no clock, no thread and no entropy", arguments: pure)
    func imports(path: String) throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        // A file that was moved must be noticed: a check of nothing would pass.
        let files = try files(at: sources.appending(path: path))
        #expect(!files.isEmpty, "Sources/\(path) does not exist")
        for file in files {
            let source = try String(contentsOf: file, encoding: .utf8)
            for line in source.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for word in Self.forbidden {
                    #expect(!line.contains(word), "\(file.lastPathComponent): \(line)")
                }
            }
        }
    }

    private func files(at url: URL) throws -> [URL] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path(percentEncoded: false), isDirectory: &isDirectory) else {
            return []
        }
        guard isDirectory.boolValue else { return [url] }
        return try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }
    }
}
