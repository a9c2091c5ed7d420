import Foundation

/// Standard output and standard error.
///
/// Output is written at once, not when a buffer is full: whoever reads through a pipe waits for the line.
enum Console {
    /// Writes one line to standard output.
    ///
    /// A reader that has gone away (`syncd log … | head`) ends the program quietly, as it does for other filters; SIGPIPE
    /// itself is ignored, because the daemon must survive a peer that hangs up. Any other failure, as of a full disk behind `>`, is
    /// said on standard error and ends it with 1.
    static func line(_ text: String) {
        guard !write(text + "\n", to: STDOUT_FILENO) else { return }
        let reason = errno
        guard reason != EPIPE else { exit(0) }
        error(
            "the output cannot be written: \(String(cString: strerror(reason)))",
            hint: "make room where standard output goes, or send it elsewhere")
        exit(1)
    }

    /// Writes `Error: ` and the sentence, and the hint on a line of its own, to standard error.
    static func error(_ message: String, hint: String) {
        _ = write("Error: \(sentence(message))\nHint: \(capitalized(sentence(hint)))\n", to: STDERR_FILENO)
    }

    /// Writes `text` over the line of standard error that the cursor stands on. The cursor goes back to its beginning, so that whatever
    /// comes next takes the place of `text`. For terminals only.
    static func overwrite(_ text: String) { _ = write("\r\u{1B}[K\(text)\r", to: STDERR_FILENO) }

    private static func sentence(_ text: String) -> String {
        let text = ConsoleText.printable(text)
        return text.hasSuffix(".") || text.hasSuffix("?") ? text : text + "."
    }

    /// Unless the first word is a command or an address.
    private static func capitalized(_ text: String) -> String {
        let word = text.prefix { $0 != " " }
        guard word.allSatisfy(\.isLetter), let first = word.first, first.isLowercase, word != "syncd" else {
            return text
        }
        return first.uppercased() + text.dropFirst()
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
