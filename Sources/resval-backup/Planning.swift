import ArgumentParser
import BackupEngines
import BackupPlanning
import CommandSupport
import EffectiveValues
import SystemCalls

/// Makes the planner that the options ask for.
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

/// Reports what a plan has to report.
func report(_ notices: [PlanNotice]) {
    for notice in notices {
        if notice.isShortfall {
            Messages.write(about: notice.path.bytes, notice.sentence)
        } else {
            Messages.warn(about: notice.path.bytes, notice.sentence)
        }
    }
}
