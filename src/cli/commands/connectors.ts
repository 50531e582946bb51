import type { Noun } from "#cli/line/command.ts";
import { addConnector } from "./connectors/add.ts";
import {
  pauseConnector,
  removeConnector,
  resumeConnector,
  rotateKey,
  setScope,
  showWebhook,
  updateConnector,
} from "./connectors/change.ts";
import { linkPerson, listPeople } from "./connectors/people.ts";
import { browse, listConnectorFiles, listConnectors, listSources, showConnector } from "./connectors/show.ts";
import { cancelSync, listRemovals, showProgress, startSync } from "./connectors/syncs.ts";

export const connectors: Noun = {
  summary: "What is indexed, and its syncs.",
  verbs: {
    list: listConnectors,
    sources: listSources,
    show: showConnector,
    add: addConnector,
    update: updateConnector,
    browse,
    files: listConnectorFiles,
    sync: startSync,
    cancel: cancelSync,
    progress: showProgress,
    removals: listRemovals,
    people: listPeople,
    "link-person": linkPerson,
    pause: pauseConnector,
    resume: resumeConnector,
    scope: setScope,
    "rotate-key": rotateKey,
    webhook: showWebhook,
    remove: removeConnector,
  },
};
