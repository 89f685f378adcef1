import { GRAPHS } from '../projects/graph-scenarios.ts';
import { addScenarioTests } from '../projects/scenario-tests.ts';
import { suite } from '../support/suite.ts';

const test = suite('projects with graphs of their own, on the other lines');
addScenarioTests(test, GRAPHS, 'graphs', 'long');
test.run();
