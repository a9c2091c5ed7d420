import Foundation

extension Campaign {
    /// A failing scenario.
    package struct Finding: Sendable {
        let request: Request
        let failure: String

        /// The failure, and how to reproduce it.
        package var text: String {
            """
            seed \(request.seed): \(failure)
            Again with: make simulate \(request.arguments)
            """
        }

        /// Adds the scenario to a list of regression scenarios, unless the list has it: its arguments for
        /// `simulate`, below a comment with the failure.
        ///
        /// - Parameter path: The path of the list; a missing file is created.
        /// - Throws: When the file cannot be read or written; it is then unchanged.
        package func record(in path: String) throws {
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
