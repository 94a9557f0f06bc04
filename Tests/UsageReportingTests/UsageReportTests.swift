import Testing
import UsageReporting

@Suite("Usage reports")
struct UsageReportTests {
}
