import FoundationEssentials

/// Translates the errors of S3 servers for people.
///
/// The codes are those of https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html and of other servers.
struct S3Failure {
    let address: S3Address
    /// What was tried, such as "written to".
    let operation: String
    /// Which permission that needs.
    let permission: String
    let credentials: S3Credentials
    /// This machine's time, in milliseconds since 1970.
    let wallMilliseconds: Int64
    let limits: Limits

    func error(_ answer: S3Answer) -> SyncError {
        let problem = answer.problem
        let delay = SyncError.retryAfterSeconds(answer.head.retryAfter, limits: limits)
        func error(_ code: SyncError.Code, _ hint: String?) -> SyncError {
            SyncError(
                code, "\(address.name) cannot be \(operation): \(reason(answer, problem))", hint: hint,
                retryAfterSeconds: delay)
        }
        if let region = wrongRegion(answer, problem) {
            return SyncError(
                .configuration, "\(address.name) is in the region \(region), not in \(address.region)",
                hint: "Write region=\(region) into the address, or set AWS_REGION.")
        }
        switch problem?.code ?? "" {
        case "RequestTimeTooSkewed":
            let theirs = problem?.serverTime ?? answer.head["date"] ?? "an unknown time"
            let ours = Date(timeIntervalSince1970: Double(wallMilliseconds) / 1_000).formatted(.iso8601)
            return SyncError(
                .clockSkew,
                "\(address.name) cannot be \(operation): its clock says \(clean(theirs)), and this machine's says \(ours)",
                hint: "Set the clock; requests are valid for 15 minutes.")
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "TokenRefreshRequired", "NotSignedUp":
            return error(
                .unauthorized,
                "Check the keys, and the profile they come from; the server does not know them, or the "
                    + "secret key is another one.")
        case "ExpiredToken":
            return error(.unauthorized, "The temporary keys have expired. Renew them in the credentials file.")
        case "NoSuchBucket":
            return error(.notFound, "Make the bucket, or check its name and the endpoint.")
        case "QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded",
            "StorageFull":
            return error(.storage, Self.spaceHint)
        case "EntityTooLarge": return error(.tooLarge, "The server takes no object of that size.")
        case "SlowDown", "TooManyRequests":
            return error(.tooManyRequests, nil)
        case "RequestTimeout": return error(.timedOut, nil)
        case "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody": return error(.truncated, nil)
        case "AccessDenied", "AllAccessDisabled", "AccountProblem", "InvalidObjectState":
            return error(.forbidden, "The keys need the permission \(permission) for it.")
        default: break
        }
        switch answer.status {
        case 300..<400:
            return error(
                .configuration,
                "Redirects are not followed. Check the endpoint, the region and the style (path or host).")
        case 401: return error(.unauthorized, "Check the keys, and the profile they come from.")
        case 403: return error(.forbidden, "The keys need the permission \(permission) for it.")
        case 404:
            return error(
                .notAPeer, "Is that an S3 server? Check the endpoint, the bucket and the style (path or host).")
        case 409: return error(.busy, nil)
        case 429: return error(.tooManyRequests, nil)
        case 501: return error(.failed, "That server lacks something that Tandem needs.")
        case 507: return error(.storage, Self.spaceHint)
        case 500...: return error(.busy, "The next try follows by itself.")
        case 400..<500: return error(.invalid, nil)
        default: return error(.notAPeer, "Is that an S3 server? Check the endpoint.")
        }
    }

    private static let spaceHint =
        "The bucket is full: give it more space. What was not written is kept in the journal, "
        + "and follows."

    /// The region that the server names, when it is another one.
    private func wrongRegion(_ answer: S3Answer, _ problem: S3Answer.Problem?) -> String? {
        guard (300..<500).contains(answer.status), answer.status != 404 else { return nil }
        guard let region = problem?.region ?? answer.head["x-amz-bucket-region"], region != address.region,
            (1...64).contains(region.utf8.count),
            region.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D })
        else { return nil }
        return region
    }

    private func reason(_ answer: S3Answer, _ problem: S3Answer.Problem?) -> String {
        guard let problem, !problem.code.isEmpty else { return "the server answered \(answer.status)" }
        let message = clean(problem.message)
        return "the server answered \(answer.status) \(clean(problem.code))" + (message.isEmpty ? "" : ", \(message)")
    }

    /// A text of the server, shortened. Some servers repeat the request, with its token.
    private func clean(_ text: String) -> String {
        guard !credentials.appear(in: text) else { return "" }
        let line = SyncError.printable(text, limit: 300)
        return line.hasSuffix(".") ? String(line.dropLast()) : line
    }
}
