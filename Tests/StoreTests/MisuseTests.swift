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
