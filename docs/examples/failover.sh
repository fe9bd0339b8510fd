#!/usr/bin/env bash
# Three simulated clusters, one of which fails: where its workload is rescheduled, and why. It needs leewardd, leeward
# and kubectl on the path, and nothing else; its data is in a temporary folder, which is removed at the end.
set -euo pipefail
cd "$(dirname "$0")"

folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
run() { printf '\n$ %s\n' "$*"; "$@"; }

leewardd --config leewardd.yaml --data-dir "$folder" --secure-port 0 >"$folder/leewardd.out" 2>"$folder/leewardd.log" &
export KUBECONFIG=$folder/kubeconfig
for _ in {1..300}; do
  kubectl get --raw /readyz >/dev/null 2>&1 && break
  sleep 0.1
done

# The agents of three clusters. Real ones run beside their clusters: docs/agents.md.
agents=(leeward member simulate --create --heartbeat 1s --startup 1s)
"${agents[@]}" --cluster eu-1 --region eu &
eu1=$!
"${agents[@]}" --cluster eu-2 --region eu &
"${agents[@]}" --cluster us-1 --region us &
# kubectl waits for one at a time: of several it fails for those that are missing once there is one of them.
for cluster in eu-1 eu-2 us-1; do run kubectl wait --for=create "cluster/$cluster" --timeout=30s; done
run kubectl wait --for=condition=Ready cluster --all --timeout=30s

run kubectl apply -f taint-policy.yaml -f web.yaml
run kubectl rollout status deployment/web --timeout=60s
run kubectl get clusters,rb -o wide

# Preview: what would happen if eu-1 were lost.
run kubectl create -o jsonpath='{.status.evicted} is evicted to {.status.evictions[0].toClusters}{"\n"}' -f preview.yaml

# From here on eu-1 reports that it is not Ready.
kill "$eu1"
leeward member simulate --cluster eu-1 --heartbeat 1s --fail-after 1s --fail condition &
run kubectl wait --for=jsonpath='{.spec.clusters[1].name}'=us-1 rb/web-deployment --timeout=60s
run kubectl wait --for=jsonpath='{.status.failoverHistory[0].outcome}'=healthy rb/web-deployment --timeout=60s
run kubectl get clusters,rb -o wide
run kubectl events --for resourcebinding/web-deployment
