import Foundation
import TestSupport
import Testing

/// Programs that the compiler must refuse, in the directory `Misuse`: `// error: text` in them says that the next line
/// of code gets one error with this text, and no other line gets any.
@Suite("Misuse of models")
struct MisuseTests {
    @Test("a misuse gets one error, where it was made, that names the remedy")
    func oneErrorEach() throws {
        let files = try Compiler.files(in: "Misuse")
        let expected = try files.flatMap { try Compiler.Message.expected(in: $0) }
        #expect(expected.count > 50)
        let found = try Compiler.errors(in: files)
        for message in expected {
            let here = found.filter { $0.file == message.file && $0.line == message.line }
            #expect(here.count == 1, "\(message)")
            #expect(here.allSatisfy { $0.text.contains(message.text) }, "\(message): \(here)")
        }
        let places = Set(expected.map { "\($0.file):\($0.line)" })
        for message in found where !places.contains("\(message.file):\(message.line)") {
            Issue.record("an error that nobody expects: \(message)")
        }
    }

    @Test("models compile, whichever actor the declarations of their module belong to by default")
    func defaultIsolation() throws {
        let files = try Compiler.files(in: "Correct")
        #expect(try Compiler.errors(in: files).isEmpty)
        #expect(try Compiler.errors(in: files, flags: ["-default-isolation", "MainActor"]).isEmpty)
    }
}

/// The compiler, over sources that use the Store that was built for these tests.
private enum Compiler {
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
