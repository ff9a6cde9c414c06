"""Train: one job per dataset and counts, with the whole grids of all quick methods over all folds.

A small dataset has several counts in one job, and a method whose fits are slow has a job of its own
(experiments.training_jobs). Output, a run folder for each task, a method on a representation:
run.json (what was run), scores (one row per grid point, repeat and fold), out-of-fold predictions,
scores and predictions on the inner folds that choose hyper-parameters, and the times, which alone
differ from run to run. Jobs keep what they trained under results/trained, with receipts
(experiments.receipts): one that is run again, or has failed, trains only the tasks whose receipt
names another task, input or code.
"""

for training in training_jobs(study):

    rule:
        """Fit every grid point of some methods on every fold, score it on its test documents."""
        name:
            training.rule
        input:
            code=code("train_methods"),
            corpus="results/corpora/{dataset}/corpus.parquet",
            audit="results/corpora/{dataset}/audit.json",
            folds="results/folds/{study}/{dataset}.parquet",
            inner_folds="results/inner_folds/{study}/{dataset}.parquet",
            counts=of_parts(training, counts_of),
            vocabularies=of_parts(training, vocabularies_of),
            reduced=of_parts(training, reduced_of),
        output:
            runs=trained_files(training, RUN_FILES),
            measures=measures_of(training),
        log:
            f"logs/train/{{study}}/{{dataset}}/{training.rule}.log",
        wildcard_constraints:
            dataset="|".join(map(re.escape, training.datasets)),
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=megabytes(12, least=800),
        params:
            plan=plan_file,
            work=digest_of("train", "{dataset}", training.rule),
            job=training.rule,
        shell:
            "python {input.code[0]:q} --plan {params.plan:q} --dataset {wildcards.dataset:q} --job {params.job:q} --code {input.code:q}"
            " --corpus {input.corpus:q} --audit {input.audit:q}"
            " --folds {input.folds:q} --inner-folds {input.inner_folds:q}"
            " --threads {threads} --log {log:q}"
            " --kept results/trained/{wildcards.study:q}/{wildcards.dataset:q}"
            " --runs results/runs/{wildcards.study:q}/{wildcards.dataset:q}"
            " --measures results/benchmarks/{wildcards.study:q}/train/{wildcards.dataset:q}"
