import Foundation
import NIOPosix
import Store

/// What the service does with its database.
///
/// SQLite calls wait for the disk, and a save may wait for another process; so they run on a pool of threads made for
/// that, never on the few threads that all requests share.
struct TodoList: Sendable {
    let database: Database
    let threads: NIOThreadPool

    func all() async throws -> [TodoJSON] {
        try await threads.runIfActive { [database] in
            try Todo.all(orderedBy: "created_at, $PK", in: database).map(TodoJSON.init)
        }
    }

    /// Those of `ids` that are there.
    func find(_ ids: [UUID]) async throws -> [TodoJSON] {
        try await threads.runIfActive { [database] in try Todo.find(ids, in: database).map(TodoJSON.init) }
    }

    func create(_ edit: TodoEdit) async throws -> TodoJSON {
        try await threads.runIfActive { [database] in
            let todo = try Todo.create(in: database) {
                $0.title = edit.title ?? ""
                $0.isDone = edit.done ?? false
            }
            return TodoJSON(todo)
        }
    }

    /// - Returns: nil when there is no such todo.
    func change(_ id: UUID, _ edit: TodoEdit) async throws -> TodoJSON? {
        try await threads.runIfActive { [database] in
            guard let todo = try Todo.find(id, in: database) else { return nil }
            // Only what is different is written: two people who change title and tick on two machines both keep their edit.
            try todo.save {
                if let title = edit.title { $0.title = title }
                if let done = edit.done { $0.isDone = done }
            }
            return TodoJSON(todo)
        }
    }

    /// - Returns: False when there was no such todo.
    func delete(_ id: UUID) async throws -> Bool {
        try await threads.runIfActive { [database] in try Todo.find(id, in: database)?.delete() ?? false }
    }
}
