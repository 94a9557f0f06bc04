import ArgumentParser
import BackupEngines
import BackupPlanning
import CommandSupport
import EffectiveValues
import SystemCalls

/// Returns a planner for the options.
func makePlanner(
    _ options: PolicyOptions, repository: RepositoryLocation?
) throws -> BackupPlanner {
    let environment = PolicyEnvironment.current()
    var planner = BackupPlanner(
        policy: options.policy(in: environment), mounts: environment.mounts)
    if let identity = repository?.identity { planner.repositories = [identity] }
    planner.storesPlaintext = repository?.kind == .archives
    planner.shouldStop = { StopRequest.isMade }
    return planner
}

/// Prints a plan's notices: shortfalls as errors, the others as warnings.
func report(_ notices: [PlanNotice]) {
    for notice in notices {
        if notice.isShortfall {
            Messages.write(about: notice.path.bytes, notice.sentence)
        } else {
            Messages.warn(about: notice.path.bytes, notice.sentence)
        }
    }
}
