"""Train: one job per dataset, representation and method, with its whole grid over all folds.

Output, a run folder: run.json (what was run), scores (one row per grid point, repeat and fold),
out-of-fold predictions, scores and predictions on the inner folds that choose hyper-parameters,
and the times, which alone differ from run to run.
"""


rule train_method:
    """Fit every grid point on every fold and score it on the fold's test documents."""
    input:
        code=code("train_method", "experiments.training", "datasets.corpus", "logs"),
        corpus="results/corpora/{dataset}/corpus.parquet",
        audit="results/corpora/{dataset}/audit.json",
        folds="results/folds/{study}/{dataset}.parquet",
        inner_folds="results/inner_folds/{study}/{dataset}.parquet",
        counts=counts_of,
        vocabularies=vocabularies_of,
        reduced=reduced_of,
    output:
        run="results/runs/{study}/{dataset}/{representation}/{method}/run.json",
        scores="results/runs/{study}/{dataset}/{representation}/{method}/scores.parquet",
        predictions="results/runs/{study}/{dataset}/{representation}/{method}/predictions.parquet",
        inner_scores="results/runs/{study}/{dataset}/{representation}/{method}/inner_scores.parquet",
        inner_predictions="results/runs/{study}/{dataset}/{representation}/{method}/inner_predictions.parquet",
        timings="results/runs/{study}/{dataset}/{representation}/{method}/timings.parquet",
    log:
        "logs/train/{study}/{dataset}-{representation}-{method}.log",
    benchmark:
        "results/benchmarks/{study}/train/{dataset}-{representation}-{method}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        task=task_of,
    shell:
        "python {input.code[0]:q} --task {params.task:q} --corpus {input.corpus:q}"
        " --audit {input.audit:q}"
        " --folds {input.folds:q} --inner-folds {input.inner_folds:q}"
        " --counts {input.counts:q} --vocabularies {input.vocabularies:q}"
        " --reduced {input.reduced:q}"
        " --threads {threads} --run {output.run:q} --log {log:q}"
