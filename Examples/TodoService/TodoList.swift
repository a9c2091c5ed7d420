import Foundation
import NIOPosix
import Store

/// The operations of the service on its database.
///
/// SQLite calls wait for the disk, and a save may wait for another process. Therefore they run on a separate
/// pool of threads, never on the few threads that all requests share.
struct TodoList: Sendable {
    let database: Database
    let threads: NIOThreadPool

    func all() async throws -> [Todo.Fields] {
        try await threads.runIfActive { [database] in
            try Todo.query.order(by: \.created, \.id).values(in: database)
        }
    }

    /// Returns the todos with these ids that exist.
    func find(_ ids: [UUID]) async throws -> [Todo.Fields] {
        try await threads.runIfActive { [database] in
            try Todo.where(.in(\.id, ids)).order(by: \.created, \.id).values(in: database)
        }
    }

    /// Returns a token for everything that was written here so far.
    func token() async throws -> WriteToken {
        try await threads.runIfActive { [database] in try database.writeToken() }
    }

    func create(_ edit: TodoEdit) async throws -> Todo.Fields {
        try await threads.runIfActive { [database] in
            let todo = try Todo.create(in: database) {
                $0.title = edit.title ?? ""
                $0.done = edit.done ?? false
            }
            return todo.values
        }
    }

    /// Changes a todo.
    ///
    /// - Returns: nil when there is no such todo.
    func change(_ id: UUID, _ edit: TodoEdit) async throws -> Todo.Fields? {
        try await threads.runIfActive { [database] in
            guard let todo = try Todo.find(id, in: database) else { return nil }
            // Only changed columns are written: when two people change the title and the tick on two
            // machines, both edits stay.
            try todo.save {
                if let title = edit.title { $0.title = title }
                if let done = edit.done { $0.done = done }
            }
            return todo.values
        }
    }

    /// Deletes a todo.
    ///
    /// - Returns: False when there is no such todo.
    func delete(_ id: UUID) async throws -> Bool {
        try await threads.runIfActive { [database] in try Todo.delete(id, in: database) }
    }
}
