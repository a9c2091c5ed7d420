import ServiceLifecycle
import Sync

/// Reads the files that the configuration names again when they change: tokens, certificates, keys and authorities.
///
/// It looks at them every few seconds. A watch by inotify would miss a symbolic link that is turned to another
/// directory, as tools for certificates and secrets do.
struct FileReading: Service {
    /// The time from one look to the next.
    static let pause: Duration = .seconds(2)

    let reloader: SettingsReloader

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var changes = FileChanges()
            while true {
                try await Task.sleep(for: FileReading.pause, tolerance: FileReading.pause / 2)
                let paths = reloader.files
                if changes.look(try await blocking { FileMark.all(paths) }) { await reloader.readFiles() }
            }
        }
        // A service that returns ends the daemon.
        try? await gracefulShutdown()
    }
}
