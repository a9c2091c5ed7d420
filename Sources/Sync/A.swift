public func hi() -> String { "" }
