import Foundation
import Testing

/// What decides must not reach for a clock, a thread or a random number: it could not be simulated then.
@Suite struct PurityTests {
    private static let pure = [
        "Wire/BatchCodec.swift", "Wire/BatchScan.swift", "Wire/BatchEncoder.swift", "Wire/BatchDecoder.swift",
        "Wire/ValueColumns.swift", "Wire/Frame.swift", "Wire/FrameCodec.swift", "Wire/FrameParser.swift",
        "Session/Backoff.swift", "Session/FollowState.swift", "Limits.swift", "Merge",
    ]

    private static let forbidden = [
        "import Foundation", "import Dispatch", "import Glibc", "import GRDB", "import CCurl", " async ", "await ",
        "Task {", "Date()", ".random(", "SystemRandomNumberGenerator", "hashValue",
    ]

    @Test("the deciding files import no clock, no thread and no entropy", arguments: pure)
    func imports(path: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Sync")
        for file in try files(at: root.appending(path: path)) {
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
