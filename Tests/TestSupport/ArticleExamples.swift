import Foundation

/// The examples of articles, which tests repeat line by line, so that the compiler and a test run see them.
package enum ArticleExamples {
    /// Returns the lines of code in `articles` that are in none of the sources, each with the name of its article.
    ///
    /// - Parameters:
    ///   - articles: Files in Markdown.
    ///   - sources: Files of tests.
    /// - Throws: When a file cannot be read.
    package static func linesNotRun(of articles: [URL], in sources: [URL]) throws -> [String] {
        var run: Set<String> = []
        for file in sources {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") { run.insert(code(line)) }
        }
        var missing: [String] = []
        for article in articles {
            let parts = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```")
            for (index, part) in parts.enumerated() where index % 2 == 1 {
                for line in part.split(separator: "\n").dropFirst().map(code) where !line.isEmpty && !run.contains(line)
                {
                    missing.append("\(article.lastPathComponent): \(line)")
                }
            }
        }
        return missing
    }

    /// The files of a type in a directory.
    ///
    /// - Parameters:
    ///   - directory: The directory, without those in it.
    ///   - type: The extension of their names.
    /// - Throws: When the directory cannot be read.
    package static func files(in directory: URL, _ type: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == type }
    }

    /// A line without indentation and comment.
    private static func code(_ line: Substring) -> String {
        let end = line.range(of: " // ")?.lowerBound ?? line.endIndex
        return String(line[..<end]).trimmingCharacters(in: .whitespaces)
    }
}
