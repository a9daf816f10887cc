import sagemaker
