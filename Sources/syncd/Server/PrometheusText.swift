import Foundation
import Journal
import Sync

/// The text format of `/metrics` (https://prometheus.io/docs/instrumenting/exposition_formats/).
struct PrometheusText {
    private(set) var text = ""

    /// Appends one metric with its samples.
    ///
    /// - Parameter samples: The labels of each sample with its value.
    mutating func add(
        _ name: String, _ help: String, type: String = "gauge",
        _ samples: [(labels: KeyValuePairs<String, String>, value: Int64)]
    ) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for sample in samples {
            text += name
            if !sample.labels.isEmpty {
                let labels = sample.labels.map { "\($0.key)=\"\(PrometheusText.escape($0.value))\"" }
                text += "{" + labels.joined(separator: ",") + "}"
            }
            text += " \(sample.value)\n"
        }
    }

    mutating func add(_ name: String, _ help: String, type: String = "gauge", _ value: some BinaryInteger) {
        let none: KeyValuePairs<String, String> = [:]
        add(name, help, type: type, [(labels: none, value: Int64(clamping: value))])
    }

    /// Appends one metric with a time, which Prometheus wants in seconds.
    mutating func add(_ name: String, _ help: String, milliseconds: Int64) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \(Double(milliseconds) / 1_000)\n"
    }

    /// Appends a histogram, in seconds.
    mutating func add(_ name: String, _ help: String, _ times: DurationHistogram) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
        let bounds = times.bounds.map { "\(Double($0) / 1_000_000)" } + ["+Inf"]
        var total = 0
        for (bound, count) in zip(bounds, times.counts) {
            total += count
            text += "\(name)_bucket{le=\"\(bound)\"} \(total)\n"
        }
        text += "\(name)_sum \(Double(times.microseconds) / 1_000_000)\n\(name)_count \(total)\n"
    }

    private static func escape(_ label: String) -> String {
        var out = ""
        for character in label {
            switch character {
            case "\\": out += "\\\\"
            case "\"": out += "\\\""
            case "\n": out += "\\n"
            default: out.append(character)
            }
        }
        return out
    }
}

extension PrometheusText {
    init(_ report: StatusReport, requests: RequestMetrics, applyTimes: DurationHistogram, syncTimes: DurationHistogram)
    {
        add(
            "tandem_replica_info", "Always 1; the labels describe the replica and the software.",
            [
                (
                    labels: [
                        "origin": report.origin.description, "cluster": report.cluster, "version": Version.current,
                        "sqlite_version": report.sqliteVersion,
                    ], value: 1
                )
            ])
        add("tandem_journal_rows", "Entries of the change journal.", report.journalRows)
        add(
            "tandem_journal_removed_total",
            "Positions of the change journal without an entry, by compaction or a return.",
            type: "counter", report.horizon.removed)
        if !report.horizon.isEmpty {
            add(
                "tandem_horizon_seconds", "Unix time of the newest change that compaction has taken.",
                milliseconds: report.horizon.stamp.milliseconds)
        }
        let standings = Dictionary(grouping: report.replicas.members, by: \.standing.rawValue)
        add(
            "tandem_replicas", "Other replicas that this one has heard of, by how they count for compaction.",
            standings.sorted { $0.key < $1.key }.map { (labels: ["standing": $0.key], value: Int64($0.value.count)) })
        add(
            "tandem_unconfirmed_changes", "Changes here that some replica that counts has not confirmed.",
            report.replicas.holders.map(\.unconfirmed).max() ?? 0)
        add("tandem_tables", "Tables that replicate.", report.tables.count)
        let untracked = Dictionary(grouping: report.untracked, by: \.cause.rawValue)
        add(
            "tandem_untracked_tables", "Tables and views that do not replicate, by cause.",
            untracked.sorted { $0.key < $1.key }.map { (labels: ["cause": $0.key], value: Int64($0.value.count)) })
        add("tandem_conflicts", "Entries of the conflict ledger.", report.conflicts)
        add(
            "tandem_conflicts_dropped_total", "Conflicts dropped because of age, or because one row had too many.",
            type: "counter", report.droppedConflicts)
        add("tandem_held_rows", "Rows that constraints forbid to show.", report.held)
        add(
            "tandem_held_rows_by_reason", "Rows that constraints forbid to show, by reason.",
            report.heldByReason.map { (labels: ["reason": $0.reason], value: Int64($0.rows)) })
        add(
            "tandem_clock_ahead_seconds", "How far the next local change's stamp lies ahead of the clock.",
            milliseconds: report.clocks.ownAheadMilliseconds)
        add(
            "tandem_held_back_origins", "Origins whose changes wait until this clock reaches their stamps.",
            report.clocks.origins.count { $0.hold != nil })
        add(
            "tandem_apply_seconds", "Time from the arrival of a frame with new changes to its commit.", applyTimes)
        add("tandem_fsync_seconds", "Time of each sync of the log, or of a record beside the database.", syncTimes)
        add("tandem_file_bytes", "Size of the database file.", report.fileBytes)
        add("tandem_free_bytes", "Free pages of the database file.", report.freeBytes)
        add("tandem_wal_bytes", "Size of the write-ahead log.", report.walBytes)
        add(
            "tandem_known_version", "Highest version known of each origin.",
            report.vector.entries.map { (labels: ["origin": $0.origin.description], value: $0.version) })
        add(
            "tandem_peer_lag_changes", "Changes known here that the peer has not confirmed.",
            report.peers.compactMap { peer in peer.lag.map { (labels: ["peer": peer.url], value: $0.changes) } })
        add(
            "tandem_peer_lag_seconds", "For how long the peer has lacked a change that is known here.",
            report.peers.compactMap { peer in
                peer.lag.map { (labels: ["peer": peer.url], value: $0.milliseconds / 1_000) }
            })
        add(
            "tandem_peer_last_contact_seconds", "Unix time of the last successful exchange with the peer.",
            report.peers.compactMap { peer in
                peer.lastContact.map { (labels: ["peer": peer.url], value: Int64($0.timeIntervalSince1970)) }
            })
        add(
            "tandem_peer_failing", "1 when the last exchange with the peer failed.",
            report.peers.map { (labels: ["peer": $0.url], value: $0.lastError == nil ? 0 : 1) })
        let archives = report.peers.compactMap { peer in peer.storeRequests.map { (url: peer.url, requests: $0) } }
        add(
            "tandem_store_requests_total", "Requests to an archive's object store.", type: "counter",
            archives.flatMap { archive in
                StoreRequests.verbs.map { verb in
                    (labels: ["peer": archive.url, "verb": verb.name], value: Int64(verb.count(archive.requests)))
                }
            })
        add(
            "tandem_store_sent_bytes_total", "Bytes of objects sent to an archive's object store.", type: "counter",
            archives.map { (labels: ["peer": $0.url], value: Int64($0.requests.sentBytes)) })
        add(
            "tandem_store_received_bytes_total", "Bytes of objects received from an archive's object store.",
            type: "counter", archives.map { (labels: ["peer": $0.url], value: Int64($0.requests.receivedBytes)) })
        add(
            "tandem_content_mismatches", "Ranges of rows that differ although both replicas know the same changes.",
            report.peers.filter { $0.compared != nil }.map { peer in
                (labels: ["peer": peer.url], value: Int64(peer.mismatches.reduce(0) { $0 + $1.count }))
            })
        add(
            "tandem_content_compared_seconds", "Unix time of the last comparison of the content with the peer.",
            report.peers.compactMap { peer in
                peer.compared.map { (labels: ["peer": peer.url], value: Int64($0.timeIntervalSince1970)) }
            })
        add(requests)
    }

    /// Appends the requests that were answered.
    mutating func add(_ requests: RequestMetrics) {
        add(
            "tandem_http_requests_total", "Requests answered.", type: "counter",
            requests.answered.map { entry in
                (
                    labels: [
                        "route": entry.answer.action?.rawValue ?? "unknown", "status": String(entry.answer.status),
                    ], value: Int64(entry.count)
                )
            })
    }
}
