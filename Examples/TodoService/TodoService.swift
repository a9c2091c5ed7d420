import ArgumentParser
import Foundation
import Hummingbird
import Logging
import NIOPosix
import Store

/// A web service that keeps a list in a replicated file and shows it live.
@main
struct TodoService: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo-service",
        abstract: "Serve a todo list that shows every change of its file.",
        discussion: "Run `syncd run` on the same file to share the list with other machines.")

    @Argument(help: "The database file; created when it is missing.")
    var database = "todos.sqlite"

    @Option(help: "The port on 127.0.0.1; 0 chooses a free one.")
    var port = 8080

    func run() async throws {
        let database = try Todo.openDatabase(self.database)
        let list = TodoList(database: database, threads: .singleton)
        var logger = Logger(label: "todo-service")
        logger.logLevel = .warning
        let application = Application(
            router: Routes(list: list).router(),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port), serverName: "todo-service"),
            onServerRunning: { channel in
                let line = "Listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n"
                FileHandle.standardOutput.write(Data(line.utf8))
            },
            logger: logger)
        // Runs until SIGTERM or SIGINT, then finishes running requests and feeds.
        try await application.runService()
        try database.close()
    }
}
