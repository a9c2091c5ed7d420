import Foundation
import Yams

/// A configuration file: a YAML document that maps keys to values. JSON is YAML, too.
enum ConfigurationFile {
    /// The size of the largest file that is read as a configuration.
    static let maximumBytes = 1 << 20

    /// Reads the settings of the file at `path`. No other file is looked at.
    ///
    /// - Returns: The settings that can be understood, nil when the text is no list of keys; and every
    ///   mistake of the text.
    /// - Throws: ``Failure`` when the file cannot be read.
    static func load(_ path: String) throws -> (configuration: Configuration?, mistakes: [ConfigurationMistake]) {
        let text = try read(path)
        var reader = ConfigurationReader(directory: (path as NSString).deletingLastPathComponent)
        do {
            guard let document = try Parser(yaml: text, encoding: .utf8).singleRoot(), let keys = document.mapping
            else {
                let mistake = ConfigurationMistake(
                    "this is not a list of keys with values", hint: ConfigurationMistake.shape,
                    at: ConfigurationPlace(line: 1, column: 1))
                return (nil, [mistake])
            }
            reader.read(keys)
        } catch let error as YamlError {
            return (nil, [ConfigurationMistake(error)])
        }
        return (reader.configuration, reader.mistakes)
    }

    private static func read(_ path: String) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(
                "The configuration file \(path) cannot be read: \(String(cString: strerror(errno)))",
                hint: "Check the path and its permissions")
        }
        let data: Data
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            data = try handle.read(upToCount: maximumBytes + 1) ?? Data()
        } catch {
            throw Failure("The configuration file \(path) cannot be read", hint: hint)
        }
        guard data.count <= maximumBytes else {
            throw Failure("The configuration file \(path) is larger than \(maximumBytes) bytes", hint: hint)
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure("The configuration file \(path) is not text in UTF-8", hint: hint)
        }
        return text
    }

    private static let hint = "`syncd config --example` prints one to begin with"
}

extension ConfigurationMistake {
    fileprivate static let shape = "Each line is `key: value`; `syncd config --example` prints a file to begin with"

    /// An error of the YAML parser. The text of the file is not repeated.
    fileprivate init(_ error: YamlError) {
        let hint = ConfigurationMistake.shape
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init("this is not YAML: \(problem)", hint: hint, at: ConfigurationPlace(mark))
        case .duplicatedKeysInMapping(let names, let context):
            self.init(
                "\(names.map { "\"\($0)\"" }.joined(separator: ", ")) is given twice", hint: "Keep one of them",
                key: names.first, at: ConfigurationPlace(context.mark))
        case .reader(let problem, let offset, _, let text):
            // The offset counts characters.
            let line = offset.map { text.prefix($0).count { $0.isNewline } + 1 }
            self.init(
                "this is not YAML: \(problem)", hint: hint,
                at: line.map { ConfigurationPlace(line: $0, column: 1) })
        default: self.init("this is not YAML", hint: hint, at: nil)
        }
    }
}

extension ConfigurationPlace {
    init(_ mark: Mark) { self.init(line: mark.line, column: mark.column) }
}
