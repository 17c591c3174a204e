//! The status that kwok writes at each stage, in its template language (Go's, with functions such as `Now` and
//! `PodIPWith`). Written as a kubelet writes it, as far as controllers, budgets and captures look.

/// A node that is healthy and has what it was made with.
pub(super) const NODE_READY: &str = r#"
{{ $now := Now }}
phase: Running
conditions:
{{ range NodeConditions }}
- {type: {{ .type | Quote }}, status: {{ .status | Quote }}, reason: {{ .reason | Quote }}, message: {{ .message | Quote }}, lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}}
{{ end }}
addresses:
- {type: InternalIP, address: {{ NodeIP | Quote }}}
- {type: Hostname, address: {{ NodeName | Quote }}}
"#;

/// All containers run, none is Ready.
pub(super) const POD_RUNNING: &str = r#"
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
conditions:
- {type: PodReadyToStartContainers, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now | Quote }}}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  restartCount: 0
  {{ if eq .restartPolicy "Always" }}
  ready: true
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ else }}
  ready: true
  started: false
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
  {{ end }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", restartCount: 0, ready: false, started: true, state: {running: {startedAt: {{ $now | Quote }}}}}
{{ end }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
"#;

/// All containers are Ready.
pub(super) const POD_READY: &str = r#"
{{ $now := Now }}
{{ $root := . }}
conditions:
- {type: Ready, status: "True", reason: "", lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "True", reason: "", lastTransitionTime: {{ $now | Quote }}}
{{ range .spec.readinessGates }}
- {type: {{ .conditionType | Quote }}, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ end }}
containerStatuses:
{{ range $index, $container := .spec.containers }}
{{ $status := index $root.status.containerStatuses $index }}
- {name: {{ $container.name | Quote }}, image: {{ $container.image | Quote }}, imageID: "", restartCount: 0, ready: true, started: true, state: {running: {startedAt: {{ $status.state.running.startedAt | Quote }}}}}
{{ end }}
"#;
