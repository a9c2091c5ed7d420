import Foundation

extension Campaign {
    /// A life that fails.
    public struct Finding: Sendable {
        let request: Request
        let failure: String

        /// What is wrong, and how to see it again.
        public var text: String {
            """
            seed \(request.seed): \(failure)
            Again with: make simulate \(request.arguments)
            """
        }

        /// Adds it to a list of lives that the tests live again, unless it stands there: as `simulate` takes it, after a comment that says what was wrong.
        ///
        /// - Parameter path: Of a file; it is made when there is none.
        /// - Throws: When the file cannot be read or written; it stays as it was.
        public func record(in path: String) throws {
            let file = URL(fileURLWithPath: path)
            let isThere = FileManager.default.fileExists(atPath: path)
            let list = isThere ? try String(contentsOf: file, encoding: .utf8) : ""
            let life = request.words.joined(separator: " ")
            guard !list.split(separator: "\n").contains(Substring(life)) else { return }
            let reason = failure.split(separator: "\n").first.map { $0.prefix(140) } ?? "no reason"
            let end = list.isEmpty || list.hasSuffix("\n") ? "" : "\n"
            try Data("\(list)\(end)# \(reason)\n\(life)\n".utf8).write(to: file, options: .atomic)
        }
    }
}
