import Foundation

/// Standard output and standard error.
///
/// Output is not buffered: a program that reads it through a pipe waits for each line.
enum Console {
    /// Writes one line to standard output.
    ///
    /// When the reader has closed the pipe (`syncd log … | head`), the program ends quietly with status 0,
    /// like other filters. SIGPIPE itself is ignored, because the daemon must survive a peer that hangs up.
    /// Any other failure, such as a full disk behind `>`, is printed on standard error and ends the program
    /// with status 1.
    static func line(_ text: String) {
        guard !write(text + "\n", to: STDOUT_FILENO) else { return }
        let reason = errno
        guard reason != EPIPE else { exit(0) }
        error(
            "The output cannot be written: \(String(cString: strerror(reason)))",
            hint: "Free some space where standard output goes, or redirect it elsewhere")
        exit(1)
    }

    /// Writes `Error: ` and the sentence, and the hint on a line of its own, to standard error.
    static func error(_ message: String, hint: String) {
        let lines = ["Error: \(sentence(message))", "Hint: \(sentence(hint))"]
        // The priority of an error, where systemd's journal reads it.
        let prefix = JournalLogHandler.isReading ? "<3>" : ""
        _ = write(lines.map { "\(prefix)\($0)\n" }.joined(), to: STDERR_FILENO)
    }

    /// Writes one line of the log to standard error.
    static func log(_ line: String) { _ = write(line + "\n", to: STDERR_FILENO) }

    /// Replaces the current line of standard error by `text`. The cursor returns to the start of the line, so
    /// the next output overwrites `text`. For terminals only.
    static func overwrite(_ text: String) { _ = write("\r\u{1B}[K\(text)\r", to: STDERR_FILENO) }

    private static func sentence(_ text: String) -> String {
        let text = ConsoleText.printable(text)
        return text.hasSuffix(".") || text.hasSuffix("?") ? text : text + "."
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
