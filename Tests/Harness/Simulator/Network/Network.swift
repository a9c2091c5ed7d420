import Sync
import TestSupport

/// All links between machines. The network carries bytes late, in pieces, twice, damaged, or not at all.
///
/// Bits flip only in streams of frames, which carry checksums of their own. Other messages rely on TCP and
/// TLS.
///
/// Unchecked: see ``Scheduler``.
final class Network: @unchecked Sendable {
    private struct Link: Hashable {
        let from: Int
        let to: Int
    }

    private let scheduler: Scheduler
    private let plan: NetworkPlan
    private let seed: SplitMix
    private let limits: Limits
    /// The number of requests that each link has carried; each request draws from a stream of its own.
    private var sent: [Link: Int] = [:]
    private var blocked: [Link: Int] = [:]
    private var open: [Exchange] = []
    private var count = 0
    private(set) var isHealed = false
    /// The latest time at which something may arrive that was sent before all faults ended.
    private(set) var latestArrival: Int64 = 0

    /// The server of a machine; nil while its daemon is down.
    var server: (Int) -> Server? = { _ in nil }
    /// True when the processes of a machine have just died: nothing that they still send arrives.
    var isDead: (Int) -> Bool = { _ in false }
    var note: (FaultKind) -> Void = { _ in }
    /// Gets the error on either side of a request.
    var failed: (SyncError) -> Void = { _ in }
    var trace: (String) -> Void = { _ in }
    /// Gets the whole body of each request, and each piece of a good answer, before the network changes it.
    var onSend: (Exchange, _ isAnswer: Bool, [UInt8]) -> Void = { _, _, _ in }

    init(_ scheduler: Scheduler, plan: NetworkPlan, random: SplitMix, limits: Limits) {
        self.scheduler = scheduler
        self.plan = plan
        seed = random
        self.limits = limits
    }

    // MARK: - Partitions

    func block(from: Int, to: Int) { blocked[Link(from: from, to: to), default: 0] += 1 }
    func unblock(from: Int, to: Int) { blocked[Link(from: from, to: to), default: 0] -= 1 }
    private func isBlocked(_ from: Int, _ to: Int) -> Bool {
        !isHealed && blocked[Link(from: from, to: to), default: 0] > 0
    }

    /// Ends all faults: everything that is sent from here on arrives.
    func heal() { isHealed = true }

    /// Breaks all connections of a machine whose daemon ended.
    func disconnect(_ machine: Int) {
        for exchange in open where exchange.from == machine || exchange.to == machine {
            exchange.fail(SyncError(.unreachable, "the connection was reset"))
        }
    }

    // MARK: - Requests

    /// Sends a request. Its answer or its failure arrives in ``Exchange/answer``.
    func request(_ path: String, from: Int, to: Int, _ body: [UInt8], wait: Int) -> Exchange {
        let link = Link(from: from, to: to)
        guard !isDead(from) else {
            let exchange = makeExchange(path, link)
            exchange.fail(SyncError(.unreachable, "the machine is down"))
            return exchange
        }
        sent[link, default: 0] += 1
        var random = SplitMix(seed: stream(link))
        let exchange = makeExchange(path, link)
        onSend(exchange, false, body)
        let fate = Fate(plan: isHealed ? NetworkPlan(delay: plan.delay) : plan, path: path, bytes: body.count, &random)
        for kind in fate.kinds { note(kind) }
        trace(
            "\(from)->\(to) \(path) \(body.count) B #\(exchange.number) \(fate.kinds.map(\.rawValue).joined(separator: " "))"
        )
        let patience = Int64(limits.lowSpeedSeconds + wait) * 1_000 + 20_000
        if !isHealed { latestArrival = max(latestArrival, scheduler.now + max(patience, fate.repeatedAfter ?? 0)) }
        let deadline = scheduler.after(patience) { [weak exchange] in
            exchange?.fail(SyncError(.timedOut, "no answer in time"))
        }
        exchange.onClose { [weak self, weak exchange] in
            self?.scheduler.cancel(deadline)
            self?.open.removeAll { $0 === exchange }
        }
        open.append(exchange)
        if fate.isRefused {
            scheduler.after(fate.delay) { exchange.fail(SyncError(.unreachable, "connection refused")) }
            return exchange
        }
        carry(body, of: exchange, fate, random)
        if let delay = fate.repeatedAfter {
            // The request arrives once more; nobody reads this answer.
            let copy = makeExchange(path, link)
            scheduler.after(delay) { [self] in
                guard server(to) != nil else { return }
                copy.deliver(request: body)
                copy.finishRequest()
                serve(copy, nil)
            }
        }
        return exchange
    }

    private func stream(_ link: Link) -> UInt64 {
        var base = seed
        let salt = UInt64(link.from * 64 + link.to) << 32 | UInt64(sent[link] ?? 0)
        var child = SplitMix(seed: base.next() ^ salt &* 0x9E6C_63D0_876A_68DE)
        return child.next()
    }

    private func makeExchange(_ path: String, _ link: Link) -> Exchange {
        count += 1
        return Exchange(number: count, path: path, from: link.from, to: link.to)
    }

    private func carry(_ body: [UInt8], of exchange: Exchange, _ fate: Fate, _ random: SplitMix) {
        var random = random
        var bytes = body
        if let place = fate.requestFlip, !bytes.isEmpty { bytes[place.byte % bytes.count] ^= 1 << place.bit }
        let end = fate.requestCut.map { min($0, bytes.count) } ?? bytes.count
        // The server reads a stream of frames while it arrives, and any other message once it is complete.
        let isStream = exchange.path == WireHTTP.pushPath
        let pieces = isStream ? bytes[..<end].pieces(&random) : [Array(bytes[..<end])]
        var time = fate.delay
        let pipe = Pipe(scheduler)
        for piece in pieces {
            pipe.send(after: time) { [self] in
                guard !exchange.isClosed, arrives(exchange, isAnswer: false) else { return }
                if exchange.work == nil { serve(exchange, fate) }
                exchange.deliver(request: piece)
            }
            time += Int64(random.between(0...max(1, plan.delay.upperBound / 4)))
        }
        pipe.send(after: time) { [self] in
            guard !exchange.isClosed, arrives(exchange, isAnswer: false) else { return }
            guard fate.requestCut == nil else {
                return exchange.fail(SyncError(.unreachable, "the connection was reset"))
            }
            if exchange.work == nil { serve(exchange, fate) }
            exchange.finishRequest()
        }
    }

    /// - Returns: False when the link is blocked: the bytes are lost, and the connection hangs until the
    ///   caller times out.
    private func arrives(_ exchange: Exchange, isAnswer: Bool) -> Bool {
        !(isAnswer ? isBlocked(exchange.to, exchange.from) : isBlocked(exchange.from, exchange.to))
    }

    private func serve(_ exchange: Exchange, _ fate: Fate?) {
        guard let server = server(exchange.to) else {
            return exchange.fail(SyncError(.unreachable, "connection refused"))
        }
        let sender = AnswerSender(self, exchange, fate)
        exchange.work = server.start(exchange, sender)
    }

    /// Sends one piece of an answer.
    fileprivate func answer(
        _ exchange: Exchange, by pipe: Pipe, after delay: Int64, _ deliver: @escaping () -> Void
    ) {
        pipe.send(after: delay) { [self] in
            guard !exchange.isClosed, arrives(exchange, isAnswer: true) else { return }
            deliver()
        }
    }

    fileprivate var pipe: Pipe { Pipe(scheduler) }
}

/// One direction of a connection, which keeps the order of bytes.
///
/// Unchecked: see ``Scheduler``.
private final class Pipe: @unchecked Sendable {
    private let scheduler: Scheduler
    private var waiting: [() -> Void] = []
    private var last: Int64 = 0

    init(_ scheduler: Scheduler) { self.scheduler = scheduler }

    func send(after delay: Int64, _ deliver: @escaping () -> Void) {
        last = max(last, scheduler.now + delay)
        waiting.append(deliver)
        // A draw orders two events of one time.
        scheduler.after(last - scheduler.now) { [self] in waiting.removeFirst()() }
    }
}

/// The server's side of an answer.
///
/// Unchecked: see ``Scheduler``.
final class AnswerSender: @unchecked Sendable {
    private let network: Network
    private let exchange: Exchange
    /// nil for an answer that nobody reads.
    private let fate: Fate?
    private let pipe: Pipe
    private var written = 0
    private(set) var hasBegun = false
    private var isCut = false
    private var isError = false

    fileprivate init(_ network: Network, _ exchange: Exchange, _ fate: Fate?) {
        self.network = network
        self.exchange = exchange
        self.fate = fate
        pipe = network.pipe
    }

    func head(_ status: Int) {
        hasBegun = true
        isError = status != 200
        send { $0.deliver(.head(status: status)) }
    }

    /// - Throws: When the caller has disconnected.
    func write(_ bytes: [UInt8]) throws {
        guard fate != nil else { return }
        guard !exchange.isClosed, !isCut, !network.isDead(exchange.to) else {
            throw SyncError(.unreachable, "the caller went away")
        }
        if !isError { network.onSend(exchange, true, bytes) }
        guard let fate else { return }
        var bytes = bytes
        if let flip = fate.answerFlip, flip.byte >= written, flip.byte < written + bytes.count {
            bytes[flip.byte - written] ^= 1 << flip.bit
        }
        written += bytes.count
        if let cut = fate.answerCut, written > cut {
            isCut = true
            let kept = Array(bytes.dropLast(written - cut))
            send { $0.deliver(.body(kept)) }
            // A stream of frames marks its own end; other answers have a length.
            let breaks = cut % 2 == 0 || exchange.path != WireHTTP.pullPath
            send { breaks ? $0.fail(SyncError(.unreachable, "the connection was reset")) : $0.finish() }
            return
        }
        send { $0.deliver(.body(bytes)) }
    }

    func failed(_ error: SyncError) { network.failed(error) }

    func finish() { if !isCut { send { $0.finish() } } }

    /// Breaks the answer off in the middle.
    func abort() { if !isCut { send { $0.fail(SyncError(.unreachable, "the connection was reset")) } } }

    private func send(_ deliver: @escaping (Exchange) -> Void) {
        guard let fate, !fate.isAnswerLost, !network.isDead(exchange.to) else { return }
        network.answer(exchange, by: pipe, after: fate.delay) { [exchange] in deliver(exchange) }
    }
}

/// The faults of one request, drawn when it is sent.
struct Fate {
    struct Flip {
        let byte: Int
        let bit: UInt8
    }

    var kinds: [FaultKind] = []
    let delay: Int64
    var isRefused = false
    var requestCut: Int?
    var requestFlip: Flip?
    var answerCut: Int?
    var answerFlip: Flip?
    var isAnswerLost = false
    var repeatedAfter: Int64?

    init(plan: NetworkPlan, path: String, bytes: Int, _ random: inout SplitMix) {
        var delay = Int64(random.between(plan.delay))
        let isFramedRequest = path == WireHTTP.pushPath
        let isFramedAnswer = path == WireHTTP.pullPath
        for kind in FaultKind.ofNetwork.sorted(by: { $0.rawValue < $1.rawValue }) {
            let happens = random.happens(plan.rate(kind))
            let (place, bit) = (random.next(), UInt8(random.below(8)))
            guard happens, plan.rate(kind) > 0 else { continue }
            let near = Int(place % UInt64([40, 400, 4_000][Int(bit) % 3]))
            switch kind {
            case .refused: isRefused = true
            case .requestCut: requestCut = Int(place % UInt64(max(1, bytes)))
            case .requestFlipped:
                guard isFramedRequest else { continue }
                requestFlip = Flip(byte: Int(place % UInt64(max(1, bytes))), bit: bit)
            case .answerCut: answerCut = near
            case .answerFlipped:
                guard isFramedAnswer else { continue }
                answerFlip = Flip(byte: near, bit: bit)
            case .answerLost: isAnswerLost = true
            case .duplicated: repeatedAfter = Int64(place % 100)
            case .replayed: repeatedAfter = Int64(place % 60_000)
            case .stalled: delay += Int64(place % 15_000)
            default: continue
            }
            kinds.append(kind)
        }
        self.delay = delay
    }
}

extension ArraySlice<UInt8> {
    /// Cuts the bytes anywhere, up to five times.
    fileprivate func pieces(_ random: inout SplitMix) -> [[UInt8]] {
        guard count > 1 else { return isEmpty ? [] : [Array(self)] }
        var cuts = Set((0..<random.below(5)).map { _ in startIndex + 1 + random.below(count - 1) }).sorted()
        cuts.append(endIndex)
        var start = startIndex
        return cuts.map { end in
            defer { start = end }
            return Array(self[start..<end])
        }
    }
}
