import Foundation
import TestSupport
import Testing

/// The compiler, over sources that use the Store that was built for these tests.
enum Compiler {
    struct Message: CustomStringConvertible {
        let file: String
        let line: Int
        let text: String
        var description: String { "\(file):\(line): \(text)" }

        /// The errors that the comments of a file announce.
        static func expected(in file: String) throws -> [Message] {
            let lines = try String(contentsOfFile: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            return lines.enumerated().compactMap { number, line in
                guard let mark = line.range(of: "// error: ") else { return nil }
                let name = URL(fileURLWithPath: file).lastPathComponent
                // Lines count from 1, and the error is in the next one.
                return Message(file: name, line: number + 2, text: String(line[mark.upperBound...]))
            }
        }
    }

    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    static func files(in directory: String) throws -> [String] {
        let folder = tests.appendingPathComponent(directory)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".swift") }.map { folder.appendingPathComponent($0).path }
    }

    /// Type-checks `files` as one module, and returns the errors.
    static func errors(in files: [String], flags: [String] = []) throws -> [Message] {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let products = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        let scratch = products.deletingLastPathComponent().deletingLastPathComponent()
        let sources = tests.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")
        var command = ["swiftc", "-typecheck", "-wmo", "-parse-as-library", "-module-name", "Misuse"]
        command += ["-swift-version", "6", "-enable-upcoming-feature", "ExistentialAny"]
        command += ["-enable-upcoming-feature", "MemberImportVisibility", "-diagnostic-style", "llvm"]
        command += ["-I", "\(products.path)/Modules", "-module-cache-path", "\(products.path)/ModuleCache"]
        let sqlite = "\(scratch.path)/checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap"
        command += ["-Xcc", "-fmodule-map-file=\(sqlite)"]
        for module in ["CFileShim", "CSQLiteShim"] {
            command += ["-Xcc", "-fmodule-map-file=\(products.path)/\(module).build/module.modulemap"]
            command += ["-Xcc", "-I\(sources.path)/\(module)/include"]
        }
        let plugin = "\(products.path)/StoreMacros-tool#StoreMacros"
        command += ["-Xfrontend", "-load-plugin-executable", "-Xfrontend", plugin]
        let result = try Program.run(command + flags + files)
        let lines = result.errors.split(separator: "\n").map(String.init)
        let errors = lines.compactMap(message(in:))
        // A crash, or a compiler that was not found, has no lines of errors.
        if result.status != 0, errors.isEmpty { Issue.record("\(result.errors)") }
        return errors
    }

    private static func message(in line: String) -> Message? {
        guard let match = line.firstMatch(of: /^(.+):([0-9]+):[0-9]+: error: (.+)$/), let number = Int(match.2) else {
            return nil
        }
        let name = URL(fileURLWithPath: String(match.1)).lastPathComponent
        return Message(file: name, line: number, text: String(match.3))
    }
}
