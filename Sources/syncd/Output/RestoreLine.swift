import Journal

// What `syncd restore` made, in its output.

extension Restoring.Outcome {
    func line(path: String) -> String {
        let path = ConsoleText.printable(path)
        switch self {
        case .replica(let identity):
            return "\(path) is replica \(identity.new); it was \(identity.old). Peers bring what came after the backup."
        case .tables(let stamp, let rows, let refused):
            let time = ConsoleText.time(milliseconds: stamp.milliseconds)
            let rest =
                refused == 0 ? "" : " \(ConsoleText.count(refused, "row")) do not fit the constraints and are left out."
            return "\(path) has the tables as they were at \(time): \(ConsoleText.count(rows, "row")) differ from the "
                + "source. It is no replica.\(rest)"
        }
    }

    func json(path: String) -> JSONValue {
        switch self {
        case .replica(let identity):
            .object([
                "path": .string(path), "origin": .string(identity.new.description),
                "former_origin": .string(identity.old.description), "kept": .integer(identity.kept),
                "reissued": .integer(identity.reissued),
            ])
        case .tables(let stamp, let rows, let refused):
            .object([
                "path": .string(path), "origin": .null,
                "at": .string(ConsoleText.time(milliseconds: stamp.milliseconds)), "changed_rows": .integer(rows),
                "left_out_rows": .integer(refused),
            ])
        }
    }
}
