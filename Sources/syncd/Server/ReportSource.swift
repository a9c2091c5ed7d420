import Journal
import Sync

/// Makes status reports of a running daemon.
struct ReportSource: Sendable {
    let replica: Replica
    let replicator: Replicator
    let reloader: any Reloader

    /// Returns the status of this moment.
    ///
    /// - Parameter countingRows: False for what is asked often: counting reads each table from end to end.
    /// - Throws: Errors of the file.
    func report(countingRows: Bool) async throws -> StatusReport {
        let refusal = reloader.refusal
        return try await blocking { [replica, replicator] in
            var report = try StatusReport(replica, countingRows: countingRows, live: replicator.status())
            report.configurationRefused = refusal
            report.followers = replicator.endpoint.pulls.waiting
            return report
        }
    }
}
