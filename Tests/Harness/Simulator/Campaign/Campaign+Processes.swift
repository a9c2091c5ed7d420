import Foundation
import TestSupport

extension Campaign {
    /// Runs scenarios, several at once, each in a process of its own, because SQLite's randomness belongs to a
    /// process. A scenario that ends its process counts as failed.
    ///
    /// - Parameters:
    ///   - program: The path of `simulate`.
    ///   - jobs: The number of scenarios at once.
    /// - Returns: The outcome of each scenario, in the order of `requests`. When the caller stops reading, no
    ///   further scenario starts.
    package static func lives(
        by program: String, _ requests: [Request], jobs: Int
    ) -> AsyncStream<(Request, Outcome)> {
        AsyncStream { lives in
            let work = Task {
                await withTaskGroup(of: (Int, Outcome).self) { group in
                    var begun = 0
                    var turn = 0
                    var early: [Int: Outcome] = [:]
                    func begin() {
                        guard begun < requests.count, !Task.isCancelled else { return }
                        let (number, request) = (begun, requests[begun])
                        group.addTask { (number, await onThread { Outcome(of: request, by: program) }) }
                        begun += 1
                    }
                    for _ in 0..<jobs { begin() }
                    for await (number, outcome) in group {
                        early[number] = outcome
                        while let outcome = early.removeValue(forKey: turn) {
                            lives.yield((requests[turn], outcome))
                            turn += 1
                        }
                        begin()
                    }
                }
                lives.finish()
            }
            lives.onTermination = { _ in work.cancel() }
        }
    }
}

extension Campaign.Outcome {
    /// One line, as ``init(of:by:)`` reads it.
    package var line: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }

    fileprivate init(of request: Campaign.Request, by program: String) {
        do {
            // A scenario that hangs fails like one that traps: `timeout` exits with 137 then. Its process inherits the
            // signal mask of a thread that blocks SIGTERM.
            let limit = ["timeout", "--foreground", "--signal=KILL", "900"]
            let result = try Program.run(limit + [program] + request.words + ["--outcome"])
            if let outcome = try? JSONDecoder().decode(Self.self, from: Data(result.output.utf8)) {
                self = outcome
            } else {
                self.init(failure: "\(Self.endOfProcess) ended with \(result.status): \(result.errors.suffix(2_000))")
            }
        } catch {
            self.init(failure: "\(Self.endOfProcess) did not start: \(error)")
        }
    }
}
