/// Counts as text and as one JSON object.
extension Counts {
    package var text: String {
        let faultList = FaultKind.allCases.map { "\($0.rawValue) \(faults[$0, default: 0])" }.joined(separator: ", ")
        let markList = Mark.allCases.map { "\($0.rawValue) \(marks[$0, default: 0])" }.joined(separator: ", ")
        return """
            \(lives) lives (\(livesWithCopies) with a restored or copied file), \(events) events, \(transactions) transactions, \
            \(statements) statements, \(requests) requests, \(checks) checks, \(modelChecks) of them against the model with \
            \(changesChecked) changes, \(redeliveries) batches once more, \(virtualSeconds) virtual seconds
            \(totalFaults) faults: \(faultList)
            marks: \(markList)
            """
    }

    /// - Parameters:
    ///   - seconds: Real seconds.
    ///   - failures: The seeds that failed.
    package func json(seconds: Double, hash: UInt64, failures: [UInt64]) -> String {
        let faultList = FaultKind.allCases.map { "\"\($0.rawValue)\": \(faults[$0, default: 0])" }
        let markList = Mark.allCases.map { "\"\($0.rawValue)\": \(marks[$0, default: 0])" }
        return """
            {"lives": \(lives), "lives_with_copies": \(livesWithCopies), "events": \(events), "transactions": \(transactions), \
            "statements": \(statements), "requests": \(requests), "checks": \(checks), "model_checks": \(modelChecks), \
            "changes_checked": \(changesChecked), "redeliveries": \(redeliveries), "virtual_seconds": \(virtualSeconds), "seconds": \(seconds), \
            "trace": "\(String(hash, radix: 16))", "faults": {\(faultList.joined(separator: ", "))}, \
            "marks": {\(markList.joined(separator: ", "))}, "failed_seeds": [\(failures.map(String.init).joined(separator: ", "))]}
            """
    }
}
