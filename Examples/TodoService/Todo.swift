import Foundation
import Store

/// One entry of the list. The API shows its `values`, by the names of these properties.
@Model(table: "todo")
final class Todo {
    /// A UUID of version 7: machines generate different keys without communication.
    var id: UUID
    var title: String
    var done: Bool = false
    @Column("created_at") var created: Date = Date()

    /// Opens the file, and creates it when it is missing.
    static func openDatabase(_ path: String) throws -> Database {
        try Database(path: path) { schema in
            schema.version(1) {
                try $0.execute(
                    """
                    CREATE TABLE todo (
                      id TEXT PRIMARY KEY NOT NULL,
                      title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 500),
                      done INTEGER NOT NULL DEFAULT 0,
                      created_at REAL NOT NULL) STRICT
                    """)
            }
        }
    }
}

/// The properties that a client may set.
struct TodoEdit: Codable, Sendable {
    var title: String?
    var done: Bool?
}
