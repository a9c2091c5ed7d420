import Foundation
import Journal

/// The file of tokens, as the command that adds to it sees it.
struct TokensFile {
    let path: String

    /// Adds a line, and creates the file when it is missing. The file is synced.
    ///
    /// - Throws: ``Failure`` when the file has mistakes, with this line or before; it is unchanged then. When
    ///   it cannot be written to its end, it may have a part of the line.
    func add(_ line: String) throws {
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        let text = try SecretFile(path, AccessTokens.kind).text(isCredential: false)
        let addition = (text.isEmpty || text.hasSuffix("\n") ? "" : "\n") + line + "\n"
        _ = try AccessTokens(parsing: text + addition, path: path)
        let bytes = Array(addition.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else { throw failure(errno) }
    }

    private func failure(_ code: Int32) -> Failure {
        Failure(
            "The tokens file \(path) cannot be written: \(String(cString: strerror(code)))",
            hint: "Check the directory, its permissions and the free space on its disk")
    }
}
